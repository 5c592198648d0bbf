/** Explains which rules a run got and why. Computed by the same functions as what is sent. Pure. */

import type { KnownRules, KnownSkills } from '../../../packages/prompt/index.ts';
import {
  nameOfRule,
  type RuleFile,
  type RuleReport,
  type RuleReports,
  type SkillReport,
} from '../../../shared/wire/rules.ts';
import type { Skill } from '../../../shared/wire/skills.ts';
import { knownAfter, knownAtStart } from './window/around.ts';
import { filesOfCalls } from './window/touched.ts';
import { type ModelHistory, piecesOf, type SentRun } from './window/transcript.ts';

/** `history` must end with the run. A rule that an earlier run of the window got still applies. */
export function reportRules(run: SentRun, history: ModelHistory): Omit<RuleReports, 'responseId'> {
  const set = run.machine?.context.rules;
  const pieces = piecesOf(history);
  const { window } = history;
  // A cut for a small model does not change which rules apply.
  const listening = { room: Number.POSITIVE_INFINITY };
  const { rules, skills } = knownAfter(pieces, knownAtStart(window), listening);
  const found = run.machine?.context.skills;
  const touched = pieces.flatMap((piece) => filesOfCalls(piece.answered?.turn.calls ?? [], piece));
  const read = new Set(touched);
  return {
    isKnown: set !== undefined,
    rules: [
      ...reportsOfRequest(run),
      ...(set?.files ?? []).map((file) => reportOf(file, rules, read)),
    ],
    leftOut: set?.leftOut ?? [],
    skills: (found?.skills ?? []).map((skill) => ({ ...skill, state: stateOf(skill, skills) })),
    leftOutSkills: found?.leftOut ?? [],
  };
}

function stateOf({ name, callers }: Skill, { active }: KnownSkills): SkillReport['state'] {
  if (active.has(name)) return 'active';
  return callers === 'person' ? 'unused' : 'listed';
}

function reportsOfRequest({ request }: SentRun): RuleReport[] {
  const rules = request.context?.rules ?? [];
  return rules.map((text, index) => ({
    path: `context.rules[${index}]`,
    name: '',
    origin: 'request',
    kind: 'always',
    folder: '.',
    state: 'applied',
    reason: 'always',
    chars: text.length,
  }));
}

function reportOf(file: RuleFile, known: KnownRules, read: ReadonlySet<string>): RuleReport {
  const { text, ...described } = file;
  return {
    ...described,
    name: nameOfRule(file),
    chars: text.length,
    ...outcomeOf(file, known, read),
  };
}

function outcomeOf(
  { path, kind }: RuleFile,
  { sent }: KnownRules,
  read: ReadonlySet<string>,
): Pick<RuleReport, 'state' | 'reason' | 'file'> {
  const because = sent.get(path)?.because;
  if (because?.type === 'file') return { state: 'applied', reason: 'file', file: because.path };
  if (because) return { state: 'applied', reason: because.type };
  if (read.has(path)) return { state: 'applied', reason: 'read' };
  if (kind === 'description') return { state: 'listed', reason: 'listed' };
  return { state: 'unused', reason: kind === 'manual' ? 'not_mentioned' : 'no_file' };
}
