/** The kept part of a command's output: its beginning and its end. */
import { COMMAND_LIMITS } from '../../shared/limits.ts';

/** Takes any amount of text in bounded memory. */
export class BoundedOutput {
  #head = '';
  #tail = '';
  #length = 0;

  append(text: string): void {
    const room = Math.max(0, COMMAND_LIMITS.maxHeadChars - this.#head.length);
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    this.#length += text.length;
    // Cut only at twice the size, so that many small pieces share one copy.
    if (this.#tail.length > 2 * COMMAND_LIMITS.maxTailChars) this.#tail = lastOf(this.#tail);
  }

  /** Head and tail, with a note between them on how much is missing. */
  toString(): string {
    const tail = lastOf(this.#tail);
    const dropped = this.#length - this.#head.length - tail.length;
    if (dropped === 0) return this.#head + tail;
    const note = `\n[... ${dropped} characters of output were dropped here ...]\n`;
    return withoutHalfAtEnd(this.#head) + note + withoutHalfAtStart(tail);
  }
}

function lastOf(text: string): string {
  return text.slice(-COMMAND_LIMITS.maxTailChars);
}

function withoutHalfAtEnd(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

function withoutHalfAtStart(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '');
}
