/** Cuts the text of a reply into prose and fenced code. Every split of the text gives the same segments. */
import { FencedCode } from './fenced-code.ts';
import { parseInfoString, type Segment } from './info-string.ts';
import { type OpenFence, Prose } from './prose.ts';

/** Segments follow one another: each starts, grows and ends before the next one starts. */
export type SegmentEvent =
  | { readonly type: 'start'; readonly segment: Segment }
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'end' };

/** UTF-16 units kept of the line before a fence. A sentence that introduces code is shorter. */
const MAX_LEAD_CHARS = 300;

/** A fence that is not closed yet. */
interface OpenCode {
  readonly fenced: FencedCode;
  readonly segment: Segment;
}

/**
 * Returns text as soon as it is certain, and never takes it back. White space between segments belongs to none: text
 * begins with its first line that is not blank, and ends with its last character that is not blank. Code has no line
 * end before its closing fence. CR LF becomes LF.
 */
export class FenceSegmenter {
  readonly #prose = new Prose();
  #code: OpenCode | null = null;
  #isOpen = false;
  /** White space that is text only if more text follows. */
  #space = '';
  /** The end of the text since the last code or break. Its last line shows the purpose of the next code. */
  #tail = '';
  /** A CR at the end of the text so far, else ''. */
  #cr = '';
  /** A break has cut the last line. A line end right after it belongs to that line. */
  #isLineCut = false;
  #events: SegmentEvent[] = [];

  push(text: string): SegmentEvent[] {
    const input = this.#withLf(text);
    let at = 0;
    if (input !== '') {
      if (this.#isLineCut && input.startsWith('\n')) at = 1;
      this.#isLineCut = false;
    }
    while (at < input.length) {
      at = this.#code ? this.#readCode(this.#code, input, at) : this.#readProse(input, at);
    }
    return this.#take();
  }

  /** Call it when something else comes between: ends the segment and its line. An open fence goes on afterwards. */
  break(): SegmentEvent[] {
    if (!this.#code) {
      const { text, fence } = this.#prose.end();
      this.#addText(text);
      if (fence) this.#open(fence);
      this.#isLineCut = fence !== null;
    } else {
      const { code, isClosed, isLineCut } = this.#code.fenced.end();
      this.#addCode(code, this.#code.segment);
      if (isClosed) this.#code = null;
      this.#isLineCut ||= isLineCut;
    }
    this.#tail = '';
    this.#endSegment();
    return this.#take();
  }

  /** Call at the end of the text, which closes an open fence. No `push` may follow. */
  end(): SegmentEvent[] {
    return this.break();
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
    this.#endSegment();
    const lead = this.#tail.trimEnd().split('\n').at(-1) ?? '';
    const segment = parseInfoString(fence.info, { length: fence.length, lead });
    this.#tail = '';
    this.#code = { fenced: new FencedCode(fence), segment };
    this.#start(segment);
  }

  #readCode({ fenced, segment }: OpenCode, input: string, start: number): number {
    const { code, end, isClosed } = fenced.read(input, start);
    this.#addCode(code, segment);
    if (isClosed) {
      this.#code = null;
      this.#endSegment();
    }
    return end;
  }

  /** After a break, starts a segment only if there is code, not for the closing fence alone. */
  #addCode(code: string, segment: Segment): void {
    if (code !== '' && !this.#isOpen) this.#start(segment);
    this.#add(code);
  }

  #addText(text: string): void {
    this.#tail = (this.#tail + text).slice(-MAX_LEAD_CHARS);
    const words = text.trimEnd();
    if (words === '') {
      this.#space += text;
      return;
    }
    const whole = this.#space + words;
    this.#space = text.slice(words.length);
    if (this.#isOpen) return this.#add(whole);
    this.#start({ type: 'text' });
    this.#add(whole.replace(/^\s*\n/, ''));
  }

  #start(segment: Segment): void {
    this.#isOpen = true;
    this.#events.push({ type: 'start', segment });
  }

  #endSegment(): void {
    this.#space = '';
    if (this.#isOpen) this.#events.push({ type: 'end' });
    this.#isOpen = false;
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
