/** Text that may be longer than the screen, and knows whether its end was on it. */
import { matchesKey } from '@earendil-works/pi-tui';
import type { Line } from '../../questions/steps.ts';
import type { Paint } from '../../terminal/paint.ts';
import { folded } from './folded.ts';

export class ScrollText {
  readonly #source: readonly Line[];
  readonly #paint: Paint;
  #lines: readonly string[] = [];
  #width = 0;
  #top = 0;
  #page = 1;
  #hasShownEnd = false;

  constructor(source: readonly Line[], paint: Paint) {
    this.#source = source;
    this.#paint = paint;
  }

  /** Whether the last line was on the screen once. */
  get hasShownEnd(): boolean {
    return this.#hasShownEnd;
  }

  /** How many lines the whole text takes. */
  heightAt(width: number): number {
    if (width !== this.#width) {
      this.#width = width;
      this.#lines = this.#source.flatMap(({ text, style }) =>
        folded(text, width).map((piece) => (style ? this.#paint(style, piece) : piece)),
      );
    }
    return this.#lines.length;
  }

  /** At most `height` lines, which are drawn; the last one says where they stand if they are not all. */
  render(width: number, height: number): string[] {
    const total = this.heightAt(width);
    const isWhole = total <= height;
    this.#page = isWhole ? height : height - 1;
    this.#top = Math.max(0, Math.min(this.#top, total - this.#page));
    const end = Math.min(total, this.#top + this.#page);
    this.#hasShownEnd ||= end === total;
    const shown = this.#lines.slice(this.#top, end);
    if (isWhole) return shown;
    const more = end === total ? '' : ' · Space reads on';
    return [...shown, this.#paint('yellow', `Lines ${this.#top + 1}-${end} of ${total}${more}`)];
  }

  /** Whether it was a key that scrolls. */
  handleKey(data: string): boolean {
    const by = this.#stepOf(data);
    if (by === undefined) return false;
    this.#top += by;
    return true;
  }

  #stepOf(data: string): number | undefined {
    if (matchesKey(data, 'pageDown') || matchesKey(data, 'space')) return this.#page;
    if (matchesKey(data, 'pageUp')) return -this.#page;
    if (matchesKey(data, 'shift+down') || matchesKey(data, 'ctrl+down')) return 1;
    if (matchesKey(data, 'shift+up') || matchesKey(data, 'ctrl+up')) return -1;
    if (matchesKey(data, 'end')) return this.#lines.length;
    if (matchesKey(data, 'home')) return -this.#lines.length;
    return undefined;
  }
}
