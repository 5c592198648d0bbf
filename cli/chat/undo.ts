/** What an undo would do to files, and the undo of a conversation that a session follows. */
import type { ChatResponse, UndoInput } from '../../client/index.ts';
import { nameInLine, printableLine } from '../../shared/text/plain-sight.ts';
import { UndoReport } from '../../shared/wire/undo.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { ChatSession } from './session.ts';
import { folded } from './turn.ts';

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
  if (!(await confirm(CHANGE_FILES))) return say('Nothing was changed.');
  for await (const _ of chat.client.undo(view.id, { scope, digest: report.digest })) {
    // The session follows the same conversation, and shows it.
  }
}

/** The question before an undo. */
export const CHANGE_FILES = 'Change these files?';

/** What the undo would do; undefined where it would change no file. The transcript shows why it fails. */
export async function previewUndo(
  { chat, view }: ChatSession,
  wanted: UndoInput,
): Promise<UndoReport | undefined> {
  let response: ChatResponse | undefined;
  const events = chat.client.undo(view?.id ?? '', { ...wanted, preview: true });
  for await (const { event } of events) response = folded(response, event);
  const report = reportIn(response);
  return report && changesFiles(report) ? report : undefined;
}

/** What the answer to a preview says. */
export function reportIn(response: ChatResponse | undefined): UndoReport | undefined {
  const reports = response?.documents.map(({ metadata }) => metadata['undo']) ?? [];
  return UndoReport.safeParse(reports.findLast((report) => report !== undefined)).data;
}

/** Whether the undo would change any file. */
export function changesFiles({ files }: UndoReport): boolean {
  return files.some(({ action }) => action !== 'keep');
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
