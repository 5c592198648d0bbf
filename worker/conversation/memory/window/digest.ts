/** Makes the digest, which replaces everything before a new window. Pure. */

import type { ActiveSkill } from '../../../../packages/prompt/index.ts';
import type { Toolbox } from '../../../../shared/tools/toolbox.ts';
import type { ToolResult } from '../../../../shared/wire/tunnel.ts';
import type { Call, Digest, NewWindow } from '../../store/rows.ts';
import { WINDOW_LIMITS } from './limits.ts';
import { piecesBefore, planIn, skillsIn, todosIn, wordsIn } from './range.ts';
import { cutTagged, firstLine, newestWithin } from './text.ts';
import type { ModelHistory, Piece } from './transcript.ts';
import { boundWords } from './words.ts';

/** Where a new window begins, and the room of the model. */
export interface Cut {
  readonly window: Pick<NewWindow, 'from'>;
  /** UTF-16 units. */
  readonly room: number;
}

/** `summary` is the model's; null: a list of what was done. Missing plans and todos come from the digest before. */
export function digestOf(
  history: ModelHistory,
  { window: { from }, room }: Cut,
  summary: string | null,
): Digest {
  const before = history.window?.digest ?? null;
  const pieces = piecesBefore(history, from);
  const plan = planIn(pieces) ?? before?.plan ?? null;
  const maxPlanChars = Math.floor(Math.min(room * WINDOW_LIMITS.plan, WINDOW_LIMITS.maxPlanChars));
  const skills = boundSkills([...(before?.skills ?? []), ...skillsIn(pieces)], room);
  return {
    summary: cutTagged(summary?.trim() || listOf(pieces, before, room), maxSummaryChars(room)),
    words: boundWords([...(before?.words ?? []), ...wordsIn(pieces)], room),
    plan: plan === null ? null : cutTagged(plan, maxPlanChars),
    todos: [...(todosIn(pieces) ?? before?.todos ?? [])],
    ...(skills.length > 0 && { skills }),
  };
}

/** The most UTF-16 units that a summary may take in a request. */
export function maxSummaryChars(room: number): number {
  return Math.floor(Math.min(room * WINDOW_LIMITS.summary, WINDOW_LIMITS.maxSummaryChars));
}

/** The newest text of each, the newest skills first where room is short. */
function boundSkills(skills: readonly ActiveSkill[], room: number): ActiveSkill[] {
  let left = Math.min(room * WINDOW_LIMITS.skills, WINDOW_LIMITS.maxSkillsChars);
  const newest = new Map(skills.map((skill) => [skill.name, skill]));
  const kept = [...newest.values()].reverse().filter(({ text }) => {
    const fits = text.length <= left;
    if (fits) left -= text.length;
    return fits;
  });
  return kept.reverse();
}

const LIST_HEAD = 'No summary could be made of this part. What was done in it, oldest first:';
const LIST_CUT = '- [older entries are left out]';

/** Lists what was done. The earlier summary keeps half of the space, so repeated failures do not push it out. */
function listOf(pieces: readonly Piece[], before: Digest | null, room: number): string {
  const maxChars = maxSummaryChars(room);
  const earlier = before ? `${cutTagged(before.summary, Math.floor(maxChars / 2))}\n\n` : '';
  const entries = pieces.flatMap(entriesOf);
  const left = maxChars - earlier.length - LIST_HEAD.length - LIST_CUT.length - 2;
  const shown = newestWithin(entries, left, 1);
  const cut = shown.length < entries.length ? [LIST_CUT] : [];
  return `${earlier}${[LIST_HEAD, ...cut, ...shown].join('\n')}`;
}

function entriesOf({ answered, toolbox }: Piece): string[] {
  if (!answered) return [];
  const { turn, results } = answered;
  const said = firstLine(turn.text, WINDOW_LIMITS.maxListedChars);
  return [
    ...(said === '' ? [] : [`- ${said}`]),
    ...turn.calls.map(
      (call, index) => `- ${describeCall(call, toolbox)}: ${outcomeOf(results[index])}`,
    ),
  ];
}

/** The call's tool, and its path or command. */
export function describeCall(call: Call, toolbox: Toolbox): string {
  const tool = toolbox.find(call.name);
  const read = tool?.read(call.arguments);
  const [subject = ''] = read?.isValid ? (tool?.subjects(read.args) ?? []) : [];
  const name = tool?.name ?? call.name;
  return `${name} ${firstLine(subject, WINDOW_LIMITS.maxListedChars)}`.trimEnd();
}

function outcomeOf(result: ToolResult | undefined): string {
  if (!result) return 'cancelled';
  return result.status === 'success' ? 'ok' : `failed (${result.code})`;
}
