/** The end of a debug run: whether files still hold its instrumentation. */
import { newCallId } from '../../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../../shared/limits.ts';
import { nameInLine } from '../../../../shared/text/plain-sight.ts';
import { grep } from '../../../../shared/tools/grep.ts';
import type { Tool } from '../../../../shared/tools/toolbox.ts';
import { DEBUG_MARK } from '../../../../shared/wire/modes.ts';
import { isReachable } from '../../log/offered-tools.ts';
import type { Call, Run, Turn } from '../../store/rows.ts';
import { type ErrorReport, errorDocument } from '../../tape/error-document.ts';
import type { RunDeps } from '../run-deps.ts';
import type { OwnTurn, Step } from './step.ts';
import { closeStep, worksInOwnTree } from './worktree.ts';

type DebugCheckDeps = Pick<RunDeps, 'log' | 'recorder' | 'newUuid'>;

/** The searches before a debug run ends: each edited file, or the workspace where other calls may have edited. */
export function searchAtEnd(run: Run, { log, newUuid }: DebugCheckDeps): OwnTurn | undefined {
  const tool = log.toolbox.own(grep.name);
  if (!wasDebug(run, log) || !tool || !isReachable(tool, run.machine)) return undefined;
  const search = (args: Readonly<Record<string, unknown>>) => ({
    callId: newCallId(newUuid()),
    name: grep.name,
    args: { pattern: DEBUG_MARK, ...args },
  });
  const calls = editedFiles(log).map((path) => search({ path, head_limit: 3 }));
  const limits = { output_mode: 'files_with_matches', head_limit: RUN_LIMITS.maxMarkedFiles };
  if (callsOf(log).some(({ tool: used }) => isUnseen(used))) calls.push(search(limits));
  return calls.length > 0 ? { type: 'turn', calls, own: 'check' } : undefined;
}

/** For a run that ends without a search: where to look for what it may have left. Null for nothing. */
export function unsearched(run: Run, log: DebugCheckDeps['log']): ErrorReport | null {
  if (!wasDebug(run, log)) return null;
  const files = editedFiles(log, holdsMark);
  const byCommands = callsOf(log).some(({ call, tool }) => isUnseen(tool) && holdsMark(call));
  if (files.length === 0 && !byCommands) return null;
  const places = [
    ...(files.length > 0 ? [named(files)] : []),
    ...(byCommands ? ['what its commands changed'] : []),
  ];
  return reportOf(
    `The response ended before its instrumentation was searched for. Look for ${DEBUG_MARK} in ${places.join(' and ')}.`,
  );
}

/** Whether the run began in debug mode, or switched to it at any time. */
function wasDebug({ request }: Run, { steers }: DebugCheckDeps['log']): boolean {
  return request.mode === 'debug' || steers.some(({ switched }) => switched?.mode === 'debug');
}

function callsOf({
  turns,
  toolbox,
}: DebugCheckDeps['log']): { call: Call; tool: Tool | undefined }[] {
  return turns.flatMap(({ calls }) =>
    calls.map((call) => ({ call, tool: toolbox.find(call.name) })),
  );
}

function holdsMark({ rawArguments }: Call): boolean {
  return rawArguments.includes(DEBUG_MARK);
}

/** The newest ones first. */
function editedFiles(
  log: DebugCheckDeps['log'],
  isMeant: (call: Call) => boolean = () => true,
): string[] {
  const paths = callsOf(log).flatMap(({ call, tool }) =>
    call.arguments && tool?.document.type === 'file_edit' && isMeant(call)
      ? tool.subjects(call.arguments)
      : [],
  );
  return [...new Set(paths.toReversed())].slice(0, RUN_LIMITS.maxCheckedFiles);
}

/** Whether calls of the tool can change files that nothing names here: commands, tools of servers, subagents. */
function isUnseen(tool: Tool | undefined): boolean {
  if (!tool || tool.document.type === 'file_edit') return false;
  return tool.effect === 'execute' || tool.origin !== undefined || tool.executor === 'agent';
}

/** What follows once the searches of the last turn have results: the run ends, or the model gets one note and goes on. */
export function checkStep(run: Run, deps: RunDeps): Step | undefined {
  const { log, recorder } = deps;
  const turn = log.turns.at(-1);
  if (turn?.own !== 'check') return undefined;
  const place = log.turns.length;
  if (log.steers.some(({ isNote, turns }) => isNote && turns === place)) return undefined;
  const left = marksLeft(turn, recorder);
  const isClean = left.edited.length + left.others.length === 0;
  if (isClean && log.hasWaitingSteer) return undefined;
  const isFirst = log.turns.filter(({ own }) => own === 'check').length === 1;
  if (!isClean && isFirst) return { type: 'note', note: noteOn(left) };
  const { trace } = run.request;
  const events = isClean ? [] : errorDocument(recorder.nextSequence, reportOn(left), trace);
  return worksInOwnTree(run)
    ? closeStep(run, deps, events)
    : { type: 'end', status: 'completed', events };
}

/** Where the mark stands: in files that calls edited, and in others, which may have had it before. */
interface MarksLeft {
  readonly edited: readonly string[];
  readonly others: readonly string[];
}

function marksLeft({ calls }: Turn, recorder: DebugCheckDeps['recorder']): MarksLeft {
  const results = calls.map(({ documentId, arguments: args }) => {
    const { result } = recorder.document(documentId)?.metadata ?? {};
    const { status, data } = Object(result) as Record<string, unknown>;
    return { path: args?.['path'], text: status === 'success' ? String(data) : '' };
  });
  const edited = results.flatMap(({ path, text }) =>
    path !== undefined && text.includes(DEBUG_MARK) ? [String(path)] : [],
  );
  const listed = results.flatMap(({ path, text }) => (path === undefined ? text.split('\n') : []));
  const others = listed.filter((name) => name !== '' && !name.startsWith('('));
  const isNew = (name: string) => !edited.some((path) => isSamePath(path, name));
  return { edited, others: others.filter(isNew) };
}

function isSamePath(one: string, other: string): boolean {
  return one.replace(/^\.\//, '') === other.replace(/^\.\//, '') || one.endsWith(`/${other}`);
}

function noteOn({ edited, others }: MarksLeft): string {
  const parts = [
    ...(edited.length > 0
      ? [
          `${DEBUG_MARK} still stands in files that you have edited: ${named(edited)}. Remove every line of instrumentation now.`,
        ]
      : []),
    ...(others.length > 0
      ? [
          `${DEBUG_MARK} stands in ${named(others)}. Where your commands or subagents put it there, remove it; leave what is not yours.`,
        ]
      : []),
  ];
  return `[${parts.join(' ')} Then end with one sentence.]`;
}

function reportOn({ edited, others }: MarksLeft): ErrorReport {
  const parts = [
    ...(edited.length > 0
      ? [`Instrumentation is left in ${named(edited)}: remove the lines with ${DEBUG_MARK}.`]
      : []),
    ...(others.length > 0
      ? [`${DEBUG_MARK} stands in ${named(others)}: a command may have put it there.`]
      : []),
  ];
  return reportOf(parts.join(' '));
}

function reportOf(message: string): ErrorReport {
  return { code: 'DEBUG_MARKS_LEFT', source: 'drawbridge', message };
}

function named(files: readonly string[]): string {
  return files.map(nameInLine).join(', ');
}
