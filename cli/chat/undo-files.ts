/** What an undo would do to files, and the undo itself. */
import type { EventStream, UndoInput } from '../../client/index.ts';
import { nameInLine, printableLine } from '../../shared/text/plain-sight.ts';
import type { UndoReport } from '../../shared/wire/undo.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { ChatSession } from './session.ts';
import { changesFiles, newUndoPreview, seeUndo } from './undo-preview.ts';

/** Where a person is shown what an undo would do, and asked for it. */
export interface UndoDesk {
  readonly session: ChatSession;
  say(words: string): void;
  /** Asks for a clear yes. */
  confirm(words: string): Promise<boolean>;
}

/** Shows what would be taken back, asks, and takes it back. */
export async function undoFiles(
  scope: 'last' | 'redo',
  { session, say, confirm }: UndoDesk,
): Promise<void> {
  const { chat, view, isBusy } = session;
  if (!view) return say('There is nothing to take back yet.');
  if (isBusy) return say('An answer is running: stop it first, or wait until it ends.');
  const report = await previewUndo(session, { scope });
  if (!report) return say('No file would be changed.');
  say(describeReport(report));
  if (!(await confirm('Change these files?'))) return say('Nothing was changed.');
  await finish(chat.client.undo(view.id, { scope, digest: report.digest }));
}

/** What the undo would do; undefined where it would change no file. The transcript shows why it fails. */
export async function previewUndo(
  { chat, view }: ChatSession,
  wanted: UndoInput,
): Promise<UndoReport | undefined> {
  const preview = newUndoPreview();
  const events = chat.client.undo(view?.id ?? '', { ...wanted, preview: true });
  for await (const { event } of events) seeUndo(preview, event);
  return preview.report && changesFiles(preview.report) ? preview.report : undefined;
}

async function finish(events: EventStream): Promise<void> {
  for await (const _ of events) {
    // The session follows the same conversation, and shows it.
  }
}

/** One line for each file. */
export function describeReport({ files }: UndoReport): string {
  return files
    .map(({ path, action, reason }) => {
      const why =
        reason === undefined ? '' : `: ${printableLine(reason, RENDER_LIMITS.maxReasonChars)}`;
      return `${ACTIONS[action]} ${nameInLine(path)}${why}`;
    })
    .join('\n');
}

const ACTIONS: Readonly<Record<UndoReport['files'][number]['action'], string>> = {
  restore: 'put back',
  create: 'make again',
  delete: 'delete',
  merge: 'put back, with what others changed since',
  keep: 'leave',
};
