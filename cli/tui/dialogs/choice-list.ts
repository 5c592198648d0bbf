/** A list that a person chooses from. A key only moves the mark; the dialog decides what an Enter answers. */
import { decodeKittyPrintable, matchesKey, visibleWidth } from '@earendil-works/pi-tui';
import type { Paint } from '../../terminal/paint.ts';
import { folded } from './folded.ts';

export interface ChoiceListOptions {
  /** One line each, in plain sight. */
  readonly labels: readonly string[];
  readonly paint: Paint;
  /** Whether Space ticks several of the first `tickable` labels. */
  readonly tickable?: number;
  /** The label that is marked at first; none without it: an Enter then answers nothing. */
  readonly marked?: number | undefined;
  readonly ticked?: readonly number[];
}

export class ChoiceList {
  readonly #labels: readonly string[];
  readonly #paint: Paint;
  readonly #tickable: number;
  readonly #ticked: Set<number>;
  #marked: number | undefined;
  #isMarkedWhole = false;

  constructor({ labels, paint, tickable = 0, marked, ticked = [] }: ChoiceListOptions) {
    this.#labels = labels;
    this.#paint = paint;
    this.#tickable = tickable;
    this.#marked = marked;
    this.#ticked = new Set(ticked);
  }

  get marked(): number | undefined {
    return this.#marked;
  }

  /** Whether all of the marked label was on the screen when it was drawn last. */
  get isMarkedWhole(): boolean {
    return this.#isMarkedWhole;
  }

  /** In the order of the labels. */
  get ticked(): readonly number[] {
    return [...this.#ticked].sort((one, other) => one - other);
  }

  unmark(): void {
    this.#marked = undefined;
  }

  /** Whether the key was for the list. */
  handleKey(data: string): boolean {
    const count = this.#labels.length;
    if (matchesKey(data, 'up')) this.#marked = ((this.#marked ?? 0) + count - 1) % count;
    else if (matchesKey(data, 'down')) this.#marked = ((this.#marked ?? -1) + 1) % count;
    else if (this.#tickable > 0 && matchesKey(data, 'space')) this.#tick();
    else return this.#jump(data);
    return true;
  }

  #jump(data: string): boolean {
    const number = Number(decodeKittyPrintable(data) ?? data);
    if (!Number.isInteger(number) || number < 1 || number > this.#labels.length) return false;
    this.#marked = number - 1;
    return true;
  }

  #tick(): void {
    if (this.#marked === undefined || this.#marked >= this.#tickable) return;
    if (!this.#ticked.delete(this.#marked)) this.#ticked.add(this.#marked);
  }

  heightAt(width: number): number {
    return this.#entries(width).flat().length;
  }

  /** The whole list; or as many lines around the mark as there is room for. */
  render(width: number, height: number): string[] {
    const entries = this.#entries(width);
    const lines = entries.flat();
    const before = entries.slice(0, this.#marked ?? 0).flat().length;
    const top = Math.max(0, Math.min(before, lines.length - height));
    this.#isMarkedWhole = (entries[this.#marked ?? 0]?.length ?? 0) <= top + height - before;
    return lines.slice(top, top + height);
  }

  #entries(width: number): string[][] {
    return this.#labels.map((label, index) => {
      const isMarked = index === this.#marked;
      const tick = index < this.#tickable ? (this.#ticked.has(index) ? '[x] ' : '[ ] ') : '';
      const first = `${isMarked ? '❯' : ' '} ${index + 1} ${tick}`;
      const [head = '', ...rest] = folded(label, Math.max(1, width - visibleWidth(first)));
      const lines = [`${first}${head}`, ...rest.map((line) => `    ${line}`)];
      return isMarked ? lines.map((line) => this.#paint('cyan', line)) : lines;
    });
  }
}
