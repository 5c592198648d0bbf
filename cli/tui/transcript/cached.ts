/** A part of the screen whose lines are worked out only when something has changed. */
import { type Component, truncateToWidth, visibleWidth } from '@earendil-works/pi-tui';

/** The same array as before means to the library that nothing has changed (its README, "Component Interface"). */
export class Cached implements Component {
  readonly #linesAt: (width: number) => readonly string[];
  #lines: readonly string[] | undefined;
  #width = 0;

  /** `linesAt` may return lines that are too long: they are cut. */
  constructor(linesAt: (width: number) => readonly string[]) {
    this.#linesAt = linesAt;
  }

  render(width: number): readonly string[] {
    if (this.#lines === undefined || this.#width !== width) {
      this.#width = width;
      this.#lines = this.#linesAt(width).map((line) => fitted(line, width));
    }
    return this.#lines;
  }

  invalidate(): void {
    this.#lines = undefined;
  }
}

/** Cuts a line that is too long: it would make the library throw. */
export function fitted(line: string, width: number): string {
  return visibleWidth(line) > width ? truncateToWidth(line, width, '…') : line;
}
