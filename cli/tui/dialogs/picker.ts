/** A list with a filter, for commands: conversations, models, modes. */
import { fuzzyFilter, matchesKey, truncateToWidth } from '@earendil-works/pi-tui';
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import { type Dialog, type DialogDesk, ROWS_BESIDE } from './dialog.ts';
import { Field } from './field.ts';

export interface PickItem<Value> {
  readonly value: Value;
  readonly label: string;
  /** Stands behind the label where there is room, and the filter finds it. */
  readonly description?: string;
}

export interface PickOptions<Value> {
  readonly title: string;
  readonly items: readonly PickItem<Value>[];
  /** The index of the item that is marked at first. */
  readonly marked?: number;
}

export class Picker<Value> implements Dialog {
  readonly #desk: Pick<DialogDesk, 'look' | 'tui'>;
  readonly #title: string;
  readonly #items: readonly PickItem<Value>[];
  readonly #onEnd: (item: PickItem<Value> | undefined) => void;
  readonly #filter: Field;
  #found: readonly PickItem<Value>[];
  #marked: number;
  #page = 1;
  focused = false;

  /** `onEnd` gets the item; undefined if the person cancelled. */
  constructor(
    desk: Pick<DialogDesk, 'look' | 'tui'>,
    { title, items, marked = 0 }: PickOptions<Value>,
    onEnd: (item: PickItem<Value> | undefined) => void,
  ) {
    this.#desk = desk;
    this.#title = inOneLine(title);
    this.#items = items;
    this.#found = items;
    this.#marked = marked;
    this.#onEnd = onEnd;
    this.#filter = new Field('', desk.look.paint);
  }

  appears(): void {}

  invalidate(): void {}

  handleInput(data: string): void {
    const last = this.#found.length - 1;
    const move = (to: number) => {
      this.#marked = Math.max(0, Math.min(last, to));
    };
    if (matchesKey(data, 'escape')) this.#onEnd(undefined);
    else if (matchesKey(data, 'enter')) this.#pick();
    else if (matchesKey(data, 'up')) move(this.#marked - 1);
    else if (matchesKey(data, 'down')) move(this.#marked + 1);
    else if (matchesKey(data, 'pageUp')) move(this.#marked - this.#page);
    else if (matchesKey(data, 'pageDown')) move(this.#marked + this.#page);
    else this.#narrow(data);
    this.#desk.tui.requestRender();
  }

  /** An Enter without anything to pick does nothing. */
  #pick(): void {
    const item = this.#found[this.#marked];
    if (item) this.#onEnd(item);
  }

  #narrow(data: string): void {
    const before = this.#filter.value;
    this.#filter.handleKey(data);
    if (this.#filter.value === before) return;
    const words = ({ label, description = '' }: PickItem<Value>) => `${label} ${description}`;
    this.#found = fuzzyFilter([...this.#items], this.#filter.value, words);
    this.#marked = 0;
  }

  render(width: number): string[] {
    const { paint } = this.#desk.look;
    const room = this.#desk.tui.terminal.rows - ROWS_BESIDE - FRAME_ROWS;
    this.#page = Math.max(1, Math.min(room, MAX_ITEMS, this.#found.length));
    const last = Math.max(0, this.#found.length - this.#page);
    const top = Math.max(0, Math.min(last, this.#marked - Math.floor(this.#page / 2)));
    this.#filter.focused = this.focused;
    const count = `${this.#found.length} of ${this.#items.length}`;
    const lines = [
      paint('bold', `── ${this.#title} `.padEnd(width, '─')),
      ...this.#filter.render(width).slice(0, 1),
      ...this.#found.slice(top, top + this.#page).map((item, at) => this.#line(item, top + at)),
      paint('dim', `Enter: take · Esc: leave · ${count}`),
    ];
    return lines.map((line) => truncateToWidth(line, width, '…'));
  }

  #line({ label, description }: PickItem<Value>, index: number): string {
    const { paint } = this.#desk.look;
    const isMarked = index === this.#marked;
    const words = `${isMarked ? '❯' : ' '} ${inOneLine(label)}`;
    const more = description === undefined ? '' : paint('dim', `  ${inOneLine(description)}`);
    return `${isMarked ? paint('cyan', words) : words}${more}`;
  }
}

/** The title, the filter and the hint. */
const FRAME_ROWS = 3;
const MAX_ITEMS = 15;
