/** The end of a debug run: whether the files that it edited still hold instrumentation. */
import { newCallId } from '../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { DEBUG_MARK } from '../../../shared/modes.ts';
import { nameInLine } from '../../../shared/plain-sight.ts';
import { grep } from '../../../shared/tools/grep.ts';
import { isReachable } from '../store/offered-tools.ts';
import type { Run, Turn } from '../store/rows.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import type { OwnCall } from './own-turn.ts';
import type { RunDeps } from './run-deps.ts';

type Deps = Pick<RunDeps, 'log' | 'recorder' | 'newUuid'>;

/**
 * The searches that a run makes before it ends: one in each file that its calls edited. None for a run that was not in
 * debug mode, and for a bridge without the tool. Edits by commands are not known.
 */
export function searchesAtEnd(run: Run, { log, newUuid }: Deps): OwnCall[] {
  const { request, switched, machine } = run;
  const isDebug = request.mode === 'debug' || switched?.mode === 'debug';
  const tool = log.toolbox.find(grep.name);
  if (!isDebug || !tool || !isReachable(tool, machine)) return [];
  return editedFiles(log).map((path) => ({
    callId: newCallId(newUuid()),
    name: grep.name,
    args: { pattern: DEBUG_MARK, path, head_limit: 3 },
  }));
}

/** The newest ones first. */
function editedFiles({ turns, toolbox }: Deps['log']): string[] {
  const paths = turns.flatMap(({ calls }) =>
    calls.flatMap(({ name, arguments: args }) => {
      const tool = toolbox.find(name);
      return args && tool?.document.type === 'file_edit' ? tool.subjects(args) : [];
    }),
  );
  return [...new Set(paths.toReversed())].slice(0, RUN_LIMITS.maxCheckedFiles);
}

/** What follows once the searches of the last turn have results. */
export type AfterCheck =
  | { readonly type: 'end'; readonly report: ErrorReport | null }
  /** The model is asked again, with this note the first time. */
  | { readonly type: 'go_on'; readonly note: string | null };

/** Null where the last turn has made no search. The model is told once. */
export function afterCheck({ log, recorder }: Deps): AfterCheck | null {
  const turn = log.turns.at(-1);
  if (turn?.own !== 'check') return null;
  const files = filesLeft(turn, recorder);
  const place = log.turns.length;
  const isTold = log.steers.some(({ isNote, turns }) => isNote && turns === place);
  if (isTold) return { type: 'go_on', note: null };
  if (files.length === 0) {
    return log.hasWaitingSteer ? { type: 'go_on', note: null } : { type: 'end', report: null };
  }
  const isFirst = log.turns.filter(({ own }) => own === 'check').length === 1;
  return isFirst
    ? { type: 'go_on', note: noteOn(files) }
    : { type: 'end', report: reportOn(files) };
}

function filesLeft({ calls }: Turn, { response }: Deps['recorder']): string[] {
  return calls.flatMap(({ documentId, arguments: args }) => {
    const document = response?.documents.find(({ id }) => id === documentId);
    const { status, data } = Object(document?.metadata['result']) as Record<string, unknown>;
    const isLeft = status === 'success' && String(data).includes(DEBUG_MARK);
    return isLeft ? [String(args?.['path'])] : [];
  });
}

function noteOn(files: readonly string[]): string {
  return `[${DEBUG_MARK} still stands in files that you have edited: ${named(files)}. Remove every line of instrumentation now, then end with one sentence.]`;
}

function reportOn(files: readonly string[]): ErrorReport {
  return {
    code: 'DEBUG_MARKS_LEFT',
    source: 'drawbridge',
    message: `Instrumentation is left in ${named(files)}: remove the lines with ${DEBUG_MARK}.`,
  };
}

function named(files: readonly string[]): string {
  return files.map(nameInLine).join(', ');
}
