/** Where the person writes: the library's editor, with what a chat adds to it. */
import { Editor, type TUI } from '@earendil-works/pi-tui';
import type { Paint } from '../../terminal/paint.ts';
import { editorTheme } from '../theme.ts';

export interface ComposerOptions {
  readonly tui: TUI;
  readonly paint: Paint;
  /** Gets what was written, without blanks at its ends; never an empty text. */
  onSubmit(text: string): void;
}

export class Composer extends Editor {
  constructor({ tui, paint, onSubmit }: ComposerOptions) {
    super(tui, editorTheme(paint));
    this.onSubmit = (text) => {
      if (text.trim() === '') return;
      this.addToHistory(text);
      onSubmit(text.trim());
    };
  }

  get isEmpty(): boolean {
    return this.getText() === '';
  }

  /** Puts text that comes back, for example from the queue, before what is written. */
  putBack(text: string): void {
    this.setText([text, this.getText()].filter((each) => each !== '').join('\n'));
  }
}
