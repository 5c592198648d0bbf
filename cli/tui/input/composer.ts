/** Where the person writes: the library's editor, with what a chat adds to it. */
import { Editor, matchesKey, type TUI, truncateToWidth } from '@earendil-works/pi-tui';
import type { Paint } from '../../terminal/paint.ts';
import { editorTheme } from '../theme.ts';
import { INPUT_LIMITS } from './limits.ts';

export interface ComposerOptions {
  readonly tui: TUI;
  readonly paint: Paint;
  /** Gets what was written, with everything that was pasted, without blanks at its ends. */
  onSubmit(written: Written): void;
  /** Gets each key first. True takes the key from the editor. */
  onKey(data: string): boolean;
  /** Gets each pasted text first. True takes it from the editor. */
  onPaste(text: string): boolean;
  /** Words that stand where nothing is written. */
  placeholder(): string | undefined;
  /** Whether there is nothing to complete at the end of this text, so that Enter sends although the list is open. */
  isComplete(before: string): boolean;
}

export interface Written {
  readonly text: string;
  /** Whether a blank stands before it: then it is a message, whatever it begins with. */
  readonly isPlain: boolean;
}

export class Composer extends Editor {
  readonly #options: ComposerOptions;
  #isPlain = false;

  constructor(options: ComposerOptions) {
    super(options.tui, editorTheme(options.paint));
    this.#options = options;
    this.onSubmit = (text) => options.onSubmit({ text, isPlain: this.#isPlain });
  }

  get isEmpty(): boolean {
    return this.getText() === '';
  }

  override render(width: number): string[] {
    const [top = '', line = '', ...below] = super.render(width);
    const words = this.isEmpty ? this.#options.placeholder() : undefined;
    if (words === undefined) return [top, line, ...below];
    // Behind the cursor, which stands on a blank of its own.
    const shown = this.#options.paint('dim', truncateToWidth(words, Math.max(0, width - 3), '…'));
    return [top, `${line.trimEnd()} ${shown}`, ...below];
  }

  override handleInput(data: string): void {
    const { onKey, onPaste } = this.#options;
    const [, pasted] = PASTE.exec(data) ?? [];
    if (pasted === undefined ? onKey(data) : onPaste(pasted)) return;
    if (matchesKey(data, 'enter')) {
      this.#isPlain = /^\s/.test(this.getText());
      if (this.isShowingAutocomplete() && this.#isComplete()) super.handleInput(ESCAPE);
    }
    // The editor knows this key only as old terminals send it.
    super.handleInput(matchesKey(data, 'alt+enter') ? '\n' : data);
  }

  #isComplete(): boolean {
    const { line, col } = this.getCursor();
    return this.#options.isComplete((this.getLines()[line] ?? '').slice(0, col));
  }

  /** Shows a text: a long one as the mark of a paste, because each drawing takes the time of the text's length. */
  write(text: string): void {
    this.setText('');
    const isLong = text.length > INPUT_LIMITS.maxShownChars;
    if (isLong) super.handleInput(`${PASTE_START}${text}${PASTE_END}`);
    else this.setText(text);
    this.tui.requestRender();
  }

  /** Puts text that comes back, for example from the queue, before what is written. */
  putBack(text: string): void {
    this.write([text, this.getExpandedText()].filter((each) => each !== '').join('\n'));
  }
}

/** Closes the list. */
const ESCAPE = '\x1b';
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send them.
const PASTE = /^\x1b\[200~(.*)\x1b\[201~$/s;
