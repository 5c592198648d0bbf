/** The limits of what a person writes. */
import { KIB, MIB, SECOND } from '../../../shared/units.ts';

export const INPUT_LIMITS = {
  /** UTF-16 units of a text that the composer shows as it is: more than anyone reads there. */
  maxShownChars: 8 * KIB,
  /** Messages that the history keeps, and the UTF-16 units of one: longer ones are pastes. */
  maxHistory: 500,
  maxHistoryChars: 4 * KIB,
  /** Conversations whose drafts are kept, and the UTF-16 units of one. */
  maxDrafts: 50,
  maxDraftChars: 64 * KIB,
  /** Waiting messages that are listed, and the UTF-16 units of each that can be seen. */
  maxListed: 5,
  maxLineChars: 300,
  /** UTF-16 units of a command's output that are kept, and the lines that are shown. */
  maxOutputChars: 64 * KIB,
  maxOutputLines: 100,
  /** For a program that reads the clipboard; and the bytes of a picture there. */
  clipboardMs: 3 * SECOND,
  maxClipboardBytes: 16 * MIB,
  /** How long the list of skills counts as new: people write a name in less. */
  skillsMs: 5 * SECOND,
} as const;
