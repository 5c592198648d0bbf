/** What the preview of an undo says, from its events. */
import type { ReadEvent } from '../../shared/wire/events.ts';
import { UndoReport } from '../../shared/wire/undo.ts';

export interface UndoPreview {
  report: UndoReport | undefined;
  /** Whether there is nothing to take back. */
  isEmpty: boolean;
}

export function newUndoPreview(): UndoPreview {
  return { report: undefined, isEmpty: false };
}

/** Takes from the event what it says of the undo. */
export function seeUndo(preview: UndoPreview, event: ReadEvent): void {
  const metadata = event.type === 'document_end' ? event.metadata : undefined;
  preview.report = UndoReport.safeParse(metadata?.['undo']).data ?? preview.report;
  preview.isEmpty ||= metadata?.['errorCode'] === 'NOTHING_TO_UNDO';
}

/** Whether the undo would change any file. */
export function changesFiles({ files }: UndoReport): boolean {
  return files.some(({ action }) => action !== 'keep');
}
