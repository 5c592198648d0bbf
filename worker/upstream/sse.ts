/** Server-Sent Events as upstreams send them: bytes in, events out, the same for every split of the bytes. */
import { UPSTREAM_LIMITS } from './limits.ts';

/** `error` is an event named so, or the line `error: {…}` of llama.cpp and its forks; `done` is `[DONE]`. */
export type UpstreamEvent =
  | { readonly type: 'data'; readonly data: string }
  | { readonly type: 'error'; readonly data: string }
  | { readonly type: 'done' };

/**
 * Parses by WHATWG HTML, section 9.2, and bends it where servers do: an event at the end of the body needs no blank
 * line, events without data and `ping`s are none. What is longer than {@link UPSTREAM_LIMITS} allows, an event
 * or the whole, becomes an `error`, the last event there is.
 */
export class EventReader {
  /** One decoder for the whole body: characters are split between reads. It also takes the byte order mark. */
  readonly #decoder = new TextDecoder();
  /** The line so far. V8 joins the pieces only once, when the line is read. */
  #line = '';
  #name = '';
  /** Null before the event's first `data:`. */
  #data: string | null = null;
  /** The last read ended in CR, which ended a line: an LF that follows belongs to it. */
  #afterCr = false;
  #tooLong = false;
  #byteCount = 0;
  #events: UpstreamEvent[] = [];

  /** Too much has come: nothing after it is read. */
  get isOver(): boolean {
    return this.#tooLong;
  }

  push(bytes: Uint8Array): UpstreamEvent[] {
    this.#byteCount += bytes.length;
    const { maxStreamBytes } = UPSTREAM_LIMITS;
    if (this.#byteCount > maxStreamBytes) {
      this.#giveUp(`The stream is longer than ${maxStreamBytes} bytes.`);
    }
    this.#readText(this.#decoder.decode(bytes, { stream: true }));
    return this.#take();
  }

  /** The body has ended. Nothing may be pushed after it. */
  end(): UpstreamEvent[] {
    this.#readText(this.#decoder.decode());
    this.#endLine();
    this.#dispatch();
    return this.#take();
  }

  #readText(decoded: string): void {
    const text = this.#withLf(decoded);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#hold(text.slice(start, end));
      this.#endLine();
      start = end + 1;
    }
    if (start < text.length) this.#hold(text.slice(start));
  }

  /** CR and CR LF end lines too. */
  #withLf(text: string): string {
    if (text === '' || (!this.#afterCr && !text.includes('\r'))) return text;
    const rest = this.#afterCr && text.startsWith('\n') ? text.slice(1) : text;
    this.#afterCr = text.endsWith('\r');
    return rest.replace(/\r\n?/g, '\n');
  }

  #hold(fragment: string): void {
    if (this.#tooLong) return;
    this.#line += fragment;
    const { maxEventChars } = UPSTREAM_LIMITS;
    if (this.#line.length + (this.#data?.length ?? 0) <= maxEventChars) return;
    this.#giveUp(`An event of the stream is longer than ${maxEventChars} characters.`);
  }

  #giveUp(data: string): void {
    if (this.#tooLong) return;
    this.#tooLong = true;
    this.#line = '';
    this.#data = null;
    this.#events.push({ type: 'error', data });
  }

  #endLine(): void {
    const line = this.#line;
    this.#line = '';
    if (!this.#tooLong) this.#readLine(line);
  }

  #readLine(line: string): void {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    else if (field === 'event') this.#name = value;
    else if (field === 'error' && value.trim() !== '') {
      this.#events.push({ type: 'error', data: value });
    }
  }

  #dispatch(): void {
    const name = this.#name;
    const data = this.#data?.trim() ?? '';
    this.#name = '';
    this.#data = null;
    if (data === '' || name === 'ping') return;
    if (data === '[DONE]') this.#events.push({ type: 'done' });
    else this.#events.push({ type: name === 'error' ? 'error' : 'data', data });
  }

  #take(): UpstreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
