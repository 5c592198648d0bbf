/** Cuts the text of a reply into prose and fenced code, exactly the same for every split of the text. */
import { FencedCode } from './fenced-code.ts';
import { parseInfoString, type Segment } from './info-string.ts';
import { type OpenFence, Prose } from './prose.ts';

/** Segments follow one another: each starts, grows and ends before the next one starts. */
export type SegmentEvent =
  | { readonly type: 'start'; readonly segment: Segment }
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'end' };

/**
 * Everything is given out as soon as it is certain, and nothing is ever taken back. White space between segments
 * belongs to none: text begins with its first line that is not blank and ends with its last character that is not,
 * code has no line end before its closing fence. CR LF becomes LF.
 */
export class FenceSegmenter {
  readonly #prose = new Prose();
  #code: FencedCode | null = null;
  #isTextOpen = false;
  /** White space that is text only if more text follows. */
  #space = '';
  /** A CR that the text so far ended in. */
  #cr = '';
  #events: SegmentEvent[] = [];

  push(text: string): SegmentEvent[] {
    const input = this.#withLf(text);
    let at = 0;
    while (at < input.length) {
      at = this.#code ? this.#readCode(this.#code, input, at) : this.#readProse(input, at);
    }
    return this.#take();
  }

  /** The text has ended, which closes an open fence. Nothing may be pushed after it. */
  end(): SegmentEvent[] {
    if (!this.#code) {
      const { text, fence } = this.#prose.end();
      this.#addText(text);
      if (fence) this.#open(fence);
    }
    if (this.#code) {
      this.#add(this.#code.end());
      this.#events.push({ type: 'end' });
    }
    this.#endText();
    return this.#take();
  }

  #withLf(text: string): string {
    const input = this.#cr + text;
    this.#cr = input.endsWith('\r') ? '\r' : '';
    return input.slice(0, input.length - this.#cr.length).replaceAll('\r\n', '\n');
  }

  #readProse(input: string, start: number): number {
    const { text, end, fence } = this.#prose.read(input, start);
    this.#addText(text);
    if (fence) this.#open(fence);
    return end;
  }

  #open(fence: OpenFence): void {
    this.#endText();
    this.#code = new FencedCode(fence);
    this.#events.push({ type: 'start', segment: parseInfoString(fence.info) });
  }

  #readCode(fenced: FencedCode, input: string, start: number): number {
    const { code, end, isClosed } = fenced.read(input, start);
    this.#add(code);
    if (isClosed) {
      this.#code = null;
      this.#events.push({ type: 'end' });
    }
    return end;
  }

  #addText(text: string): void {
    const words = text.trimEnd();
    if (words === '') {
      this.#space += text;
      return;
    }
    const whole = this.#space + words;
    this.#space = text.slice(words.length);
    if (this.#isTextOpen) return this.#add(whole);
    this.#isTextOpen = true;
    this.#events.push({ type: 'start', segment: { type: 'text' } });
    this.#add(whole.replace(/^\s*\n/, ''));
  }

  #endText(): void {
    this.#space = '';
    if (this.#isTextOpen) this.#events.push({ type: 'end' });
    this.#isTextOpen = false;
  }

  #add(text: string): void {
    if (text !== '') this.#events.push({ type: 'delta', text });
  }

  #take(): SegmentEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
