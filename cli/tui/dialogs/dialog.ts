/** A question in the place of the composer. */
import type { Component, Focusable, TUI } from '@earendil-works/pi-tui';
import type { Session } from '../session.ts';
import type { Look } from '../transcript/look.ts';

export interface Dialog extends Component, Focusable {
  handleInput(data: string): void;
}

/** What a dialog needs of the screen. */
export interface DialogDesk {
  readonly tui: TUI;
  readonly look: Look;
  readonly session: Session;
  /** Says something below what was said. */
  say(words: string): void;
}
