/** A list to choose from, with a field that narrows it. */
import {
  type Component,
  type Focusable,
  fuzzyFilter,
  Input,
  matchesKey,
  type SelectItem,
  SelectList,
  truncateToWidth,
} from '@earendil-works/pi-tui';
import type { Paint } from '../../terminal/paint.ts';
import { selectTheme } from '../theme.ts';

export interface FilterListOptions {
  readonly title: string;
  readonly items: readonly SelectItem[];
  readonly paint: Paint;
  /** Gets the value of what was chosen, or undefined when the person goes back. */
  onChoice(value: string | undefined): void;
}

export class FilterList implements Component, Focusable {
  readonly #options: FilterListOptions;
  readonly #field = new Input({ prompt: 'Filter: ' });
  #list: SelectList;
  #focused = false;

  constructor(options: FilterListOptions) {
    this.#options = options;
    this.#list = this.#listOf(options.items);
  }

  get focused(): boolean {
    return this.#focused;
  }

  set focused(focused: boolean) {
    this.#focused = focused;
    this.#field.focused = focused;
  }

  invalidate(): void {}

  handleInput(data: string): void {
    if (LIST_KEYS.some((key) => matchesKey(data, key))) return this.#list.handleInput(data);
    this.#field.handleInput(data);
    const { items } = this.#options;
    const filter = this.#field.getValue();
    const words = ({ label, description = '' }: SelectItem) => `${label} ${description}`;
    this.#list = this.#listOf(filter === '' ? items : fuzzyFilter([...items], filter, words));
  }

  render(width: number): string[] {
    const { title, paint } = this.#options;
    const rule = paint('dim', '─'.repeat(width));
    const hint = paint('dim', '↑↓ and Enter choose, Esc goes back');
    const isEmpty = this.#list.getSelectedItem() === null;
    const list = isEmpty ? [paint('dim', '  Nothing fits')] : this.#list.render(width);
    const lines = [
      ...[rule, paint('bold', title), ...list],
      ...[...this.#field.render(width), hint, rule],
    ];
    return lines.map((line) => truncateToWidth(line, width, '…'));
  }

  #listOf(items: readonly SelectItem[]): SelectList {
    const { paint, onChoice } = this.#options;
    const list = new SelectList([...items], SHOWN_ITEMS, selectTheme(paint), COLUMNS);
    list.onSelect = ({ value }) => onChoice(value);
    list.onCancel = () => onChoice(undefined);
    return list;
  }
}

const LIST_KEYS = ['up', 'down', 'pageUp', 'pageDown', 'enter', 'escape', 'ctrl+c'] as const;
const SHOWN_ITEMS = 8;
const COLUMNS = { minPrimaryColumnWidth: 12, maxPrimaryColumnWidth: 60 };
