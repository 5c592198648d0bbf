/** What every part of the transcript needs to know of the screen. */
import type { MarkdownTheme } from '@earendil-works/pi-tui';
import type { Paint } from '../../terminal/paint.ts';
import type { CodeColours } from './code-colours.ts';

/** One for the whole screen; `isExpanded` changes in place, and everything is drawn again then. */
export interface Look {
  readonly paint: Paint;
  readonly markdown: MarkdownTheme;
  readonly colours: CodeColours;
  /** The name of this machine: only messages from others say where they come from. */
  readonly device: string;
  /** Whether outputs, arguments and results are shown whole, and not folded to a few lines. */
  isExpanded: boolean;
  /** The approvals that were answered on this screen, as {@link approvalKey} names them. */
  readonly answeredHere: Set<string>;
}

/** Names the approval of a document among all. */
export function approvalKey(responseId: string, documentId: string): string {
  return `${responseId} ${documentId}`;
}
