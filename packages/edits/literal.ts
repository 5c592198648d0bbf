/** What no edit may write: text that leaves code out, and the line numbers of read_file. */
import { ToolFailure } from '../../machine/failure.ts';
import { isCopiedWithNumbers } from './line-numbers.ts';
import { findLeftMarker } from './markers.ts';

/** Refuses text with a marker in place of code, or with the line numbers that only the model sees. `where` begins the message. */
export function assertLiteral(text: string, old: string, where = ''): void {
  const marker = findLeftMarker(text, old);
  if (marker !== null) {
    throw new ToolFailure(
      'MARKER_LEFT_IN_TEXT',
      `${where}The new text leaves code out (\`${marker.trim()}\`) and would be written like that: give the text in full, or use ` +
        'edit_file on an existing file.',
    );
  }
  if (isCopiedWithNumbers(text) && !isCopiedWithNumbers(old)) {
    throw new ToolFailure(
      'LINE_NUMBERS_IN_TEXT',
      `${where}Every line of the new text carries a line number as read_file shows it (\`12|\`): give the text without them.`,
    );
  }
}
