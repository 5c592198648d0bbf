/** Says what an undo does: to a program, to the model in one sentence, and to a person as differences. */

import { shownName, toText } from '../../machine/byte-path.ts';
import { compute } from '../../machine/compute/compute.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { UndoReport } from '../../shared/wire/undo.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { targetOf } from './history.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';
import type { FilePlan } from './plan.ts';
import type { Undo } from './undo.ts';

export function reportOf({ plans, done, digest }: Undo): UndoReport {
  const made = done.map((path) => ({ path: toText(path), action: 'restore' as const }));
  const now = plans.map((plan) => ({ path: toText(plan.path), ...outcomeOf(plan) }));
  const files = [...made, ...now];
  // Where not all fit, those that a person must know of come first.
  if (files.length > CHECKPOINT_LIMITS.maxReported)
    files.sort((a, b) => Number('reason' in b) - Number('reason' in a));
  return { digest, files: files.slice(0, CHECKPOINT_LIMITS.maxReported) };
}

type FileOutcome = Omit<UndoReport['files'][number], 'path'>;

function outcomeOf(plan: FilePlan): FileOutcome {
  switch (plan.action) {
    case 'none':
      return { action: 'keep', reason: 'it is so already' };
    case 'refuse':
      return { action: 'keep', reason: plan.reason };
    case 'restore':
      if (plan.target === null) return { action: 'delete', ...reasonOf(plan) };
      return {
        action: plan.now === null ? 'create' : plan.isMerged ? 'merge' : 'restore',
        ...reasonOf(plan),
      };
    default:
      return plan satisfies never;
  }
}

function reasonOf({
  of,
  isForeign,
  left,
  isDoubtful,
}: FilePlan & { readonly action: 'restore' }): Pick<FileOutcome, 'reason'> {
  const reasons = [
    ...(of === undefined ? [] : [`it has what ${shownName(of)} was`]),
    ...(isForeign ? ['maybe the only copy of a file from where undo does not look'] : []),
    ...(left ? [`only in part, because ${left.reason}`] : []),
    ...(isDoubtful ? [DOUBT] : []),
  ];
  return reasons.length > 0 ? { reason: reasons.join(', ') } : {};
}

const DOUBT =
  'what it had may be an edited copy of a file from where undo does not look: a redo brings it back';

/** For the model too, at its next turn: which files it no longer has as it left them. */
export function sentenceOf({ plans, done: before }: Undo, isRedo: boolean): string {
  const named = (wanted: FilePlan['action']) => plans.filter(({ action }) => action === wanted);
  const isGone = (plan: FilePlan) =>
    plan.action === 'refuse' && plan.code === 'not_stored' && plan.now === null;
  const refused = named('refuse').filter((plan) => !isGone(plan));
  const restored = named('restore');
  const changed = [...before.map((path) => ({ path })), ...restored];
  const made = isRedo ? 'made changes again' : 'took back changes';
  const done = `At the user's request, Drawbridge ${made} in ${listed(changed.map(nameOf))}.`;
  const withReason = (plan: FilePlan) => `${nameOf(plan)} (${outcomeOf(plan).reason})`;
  const about = (sentence: string, about: readonly FilePlan[]) =>
    about.length > 0 ? [`${sentence}: ${listed(about.map(withReason))}.`] : [];
  const explained = restored.filter((plan) => outcomeOf(plan).reason !== undefined);
  return [
    changed.length > 0 ? done : 'No file was changed.',
    ...about('Of these', explained),
    ...about('These stay as they are', refused),
    ...about('These could not be brought back', plans.filter(isGone)),
  ].join(' ');
}

function listed(names: readonly string[]): string {
  const others = names.length - CHECKPOINT_LIMITS.maxNamed;
  const shown = names.slice(0, CHECKPOINT_LIMITS.maxNamed).join(', ');
  return others > 0 ? `${shown} and ${others} more` : shown;
}

function nameOf({ path }: Pick<FilePlan, 'path'>): string {
  return nameInLine(shownName(path));
}

/** One line for each file, and the lines that would differ. Bounded: the digest stands for what is left out. */
export async function previewText(undo: Undo, signal: AbortSignal): Promise<string> {
  const parts: string[] = [];
  let left: number = CHECKPOINT_LIMITS.maxShownChars;
  for (const plan of undo.plans) {
    if (left <= 0) {
      parts.push(`(${undo.plans.length - parts.length} more files)`);
      break;
    }
    const { action, reason } = outcomeOf(plan);
    const head = `${action} ${nameOf(plan)}${reason === undefined ? '' : `: ${reason}`}`;
    const part = [head, ...(await changeOf(plan, undo, left, signal))].join('\n');
    left -= part.length;
    parts.push(part);
  }
  return cutLines(parts.join('\n'), CHECKPOINT_LIMITS.maxShownChars, 'the rest is not shown');
}

async function changeOf(
  plan: FilePlan,
  { contentOf }: Undo,
  maxChars: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (plan.action !== 'restore') return [];
  const { now, target } = plan;
  const isOtherMode = now !== null && target !== null && now.mode !== target.mode;
  const mode = isOtherMode ? [`mode ${octal(now.mode)} becomes ${octal(target.mode)}`] : [];
  if (now?.hash === target?.hash) return mode;
  const [before, after] = [now, target].map((file) => {
    if (file === null) return NO_CONTENT;
    const link = targetOf(file);
    return link === undefined ? contentOf(file.hash) : Buffer.from(`link to ${toText(link)}\n`);
  });
  if (!before || !after) return mode;
  const request = { before, after, maxChars };
  try {
    return [...mode, await compute(CONTENT_TASKS.describeChange, request, signal)];
  } catch (error) {
    if (error instanceof ToolFailure) return [...mode, '(too much changes to be shown)'];
    throw error;
  }
}

const NO_CONTENT = new Uint8Array();

function octal(mode: number): string {
  return mode.toString(8);
}

/** Names the changes of a command that cannot be undone. */
export function lostNote(lost: readonly string[]): string {
  const { maxNamedPaths } = TOOL_LIMITS;
  const names = lost.slice(0, maxNamedPaths).join(', ');
  const others = lost.length > maxNamedPaths ? ` and ${lost.length - maxNamedPaths} more` : '';
  return `(These changes cannot be undone: ${names}${others}.)`;
}

/** Some files of the folder are not known. */
export const CUT =
  '(The workspace has very many files: what commands change in some of them cannot be undone.)';
