/** Reads the Server-Sent Events of an upstream. Every split of the bytes gives the same events. */
import { UPSTREAM_LIMITS } from './limits.ts';

/** `error` is an event named `error`, or the line `error: {…}` of llama.cpp and its forks. `done` is `[DONE]`. */
export type UpstreamEvent =
  | { readonly type: 'data'; readonly data: string }
  | { readonly type: 'error'; readonly data: string }
  | { readonly type: 'done' };

/**
 * Parses by WHATWG HTML, section 9.2, with two exceptions for real servers: the last event needs no blank line, and
 * events named `ping` are ignored, like events without data. If an event or the whole stream exceeds
 * {@link UPSTREAM_LIMITS}, the last event is an `error`.
 */
export class UpstreamEventReader {
  /** One decoder for the whole body, because reads split characters. Also removes the byte order mark. */
  readonly #decoder = new TextDecoder();
  /** The line so far. V8 joins the pieces only once, when the line is read. */
  #line = '';
  #name = '';
  /** Null before the event's first `data:`. */
  #data: string | null = null;
  /** The last read ended in CR, which ended a line. An LF that follows belongs to the same line end. */
  #afterCr = false;
  #tooLong = false;
  #byteCount = 0;
  #events: UpstreamEvent[] = [];

  /** The stream exceeds a limit. The rest is ignored. */
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

  /** Call at the end of the body. No `push` may follow. */
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

  /** Replaces CR and CR LF by LF. */
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
