/** A command's output while it runs: few, large pieces, and no more than a person reads. */
import { OUTPUT_LIMITS } from '../../../shared/limits.ts';

/** Collects text and passes it on in pieces, up to `maxLiveChars` or until `end`. */
export class LiveOutput {
  readonly #onOutput: (text: string) => void;
  #waiting = '';
  #taken = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(onOutput: (text: string) => void) {
    this.#onOutput = onOutput;
  }

  append(text: string): void {
    if (this.#isOver) return;
    const room = OUTPUT_LIMITS.maxLiveChars - this.#taken;
    this.#waiting += text.slice(0, room);
    this.#taken += text.length;
    if (text.length > room) this.#endWithNote();
    else if (this.#waiting.length >= OUTPUT_LIMITS.coalesceChars) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), OUTPUT_LIMITS.coalesceMs);
  }

  /** Passes on the waiting text and ignores all later text. May be called twice. */
  end(): void {
    this.#isOver = true;
    this.#flush();
  }

  #endWithNote(): void {
    this.#waiting += '\n[... too much to show live; the result has the end ...]\n';
    this.end();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '') this.#onOutput(text);
  }
}
