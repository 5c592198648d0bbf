/** What a line that begins with a slash does. */
import type { AutocompleteItem, SelectItem } from '@earendil-works/pi-tui';
import type { ChatResponse, Document } from '../../../client/index.ts';
import type { ChatSession } from '../../chat/session.ts';

export interface SlashCommand {
  readonly name: string;
  /** One short sentence without a full stop, for the list of commands. */
  readonly help: string;
  /** What may follow the name, such as `[NAME]`. */
  readonly takes?: string;
  /** What can follow, for what is written of it so far. */
  complete?(prefix: string, desk: CommandDesk): Promise<AutocompleteItem[]>;
  /** `rest` is what follows the name, without blanks at its ends. A ClientError that it throws is shown. */
  run(rest: string, desk: CommandDesk): Promise<void> | void;
}

/** What a command can do with the screen. */
export interface CommandDesk {
  readonly session: ChatSession;
  /** Shows words below what was said. */
  say(words: string): void;
  /** Shows a document of an answer below what was said. */
  show(document: Document, response: ChatResponse): void;
  /** Puts text into the composer. */
  write(text: string): void;
  /** Adds the image file to the next message. Rejects with a UsageError for any other file. */
  attach(path: string): Promise<void>;
  /** Puts text into the clipboard of the machine that shows the terminal. */
  copy(text: string): void;
  /** Lets the person choose; undefined when the person goes back. */
  pick(question: CommandChoice): Promise<string | undefined>;
  /** Asks for a clear yes. */
  confirm(words: string): Promise<boolean>;
  leave(): void;
}

/** A list to choose from. */
export interface CommandChoice {
  readonly title: string;
  readonly items: readonly SelectItem[];
}
