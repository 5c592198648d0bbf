/** One line that a person writes. It shows every character that it holds. */
import { Input, visibleWidth } from '@earendil-works/pi-tui';
import { inPlainSight, printable } from '../../../shared/text/plain-sight.ts';
import type { Paint } from '../../terminal/paint.ts';
import { folded } from './folded.ts';

export const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
const PROMPT = '> ';

export class Field {
  readonly #input = new Input({ prompt: PROMPT });
  readonly #paint: Paint;

  constructor(value: string, paint: Paint) {
    this.#paint = paint;
    // Typed in, and so the cursor stands behind it.
    this.#paste(value);
  }

  get value(): string {
    return this.#input.getValue();
  }

  set focused(isFocused: boolean) {
    this.#input.focused = isFocused;
  }

  /** Pasted text becomes one line; nothing in it can answer, move the cursor or hide. */
  handleKey(data: string): void {
    if (data.startsWith(PASTE_START))
      this.#paste(data.slice(PASTE_START.length).replace(PASTE_END, ''));
    else this.#input.handleInput(data);
  }

  #paste(text: string): void {
    const clean = printable(text).replaceAll(/[\n\t]/g, ' ');
    this.#input.handleInput(`${PASTE_START}${clean}${PASTE_END}`);
  }

  /** The line with the cursor; and the whole text if the line does not show it, or shows it in another way. */
  render(width: number): string[] {
    const [line = ''] = this.#input.render(width);
    const whole = folded(inPlainSight(this.value), Math.max(1, width));
    const isShown = whole[0] === this.value && visibleWidth(this.value) < width - PROMPT.length;
    return [line, ...(isShown ? [] : whole.map((each) => this.#paint('dim', each)))];
  }
}
