/** A question in the place of the composer, and what it needs of the screen. */
import type { Component, Focusable, TUI } from '@earendil-works/pi-tui';
import type { ChatSession } from '../../chat/session.ts';
import type { Look } from '../transcript/look.ts';

export interface Dialog extends Component, Focusable {
  handleInput(data: string): void;
  /** Called when it comes to the screen, also again: the keys that were pressed before do not count. */
  appears(): void;
}

/** What dialogs need of a session. */
export type DialogSession = Pick<
  ChatSession,
  'asks' | 'chat' | 'current' | 'isBusy' | 'queued' | 'send' | 'view'
>;

/** What a dialog needs of the screen. */
export interface DialogDesk {
  readonly tui: TUI;
  readonly look: Pick<Look, 'answeredHere' | 'paint'>;
  readonly session: DialogSession;
  /** Says something below what was said. */
  say(words: string): void;
  /** Lends the terminal to the person's editor, and resolves to whether it ended well. */
  edit(file: string): Promise<boolean>;
  /** Milliseconds that only ever grow. */
  nowMs(): number;
  /** Does the work after a while, unless what it returns is called before. */
  later(work: () => void, ms: number): () => void;
}

/** Lines left to the status lines: the library draws everything again where a line changes that left the screen. */
export const ROWS_BESIDE = 4;
