/** The editor's context for guests: they have no editor beside our companion. Pure. */
import { isAbsolute } from 'node:path';
import type { SentContext } from '../../companion/index.ts';
import type { EditorView } from '../ide/link/link.ts';
import { fromOne, type OpenFile } from '../ide/link/wire.ts';

/** No open files without an editor. Leaves out what a guest would refuse. */
export function guestContext(view: EditorView | undefined): SentContext {
  const files = view?.openFiles ?? [];
  const openFiles = files.filter(({ path, timestamp }) => isAbsolute(path) && timestamp >= 0);
  return { openFiles: openFiles.map(toGuests) };
}

function toGuests({ path, timestamp, isActive, cursor, selectedText }: OpenFile) {
  const place = cursor && { line: fromOne(cursor.line), character: fromOne(cursor.character) };
  return {
    path,
    timestamp,
    ...(isActive !== undefined && { isActive }),
    ...(place && { cursor: place }),
    ...(selectedText !== undefined && { selectedText }),
  };
}
