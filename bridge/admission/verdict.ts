/** The decision about a call, with its reason. */
import type { Decision } from '../../shared/wire/policy.ts';
import { type Rule, strictest } from './rules.ts';

export interface Verdict {
  readonly decision: Decision;
  /** One sentence, for the person who is asked and for the model that is refused. */
  readonly reason: string;
}

/** The first of the strictest verdicts. */
export function strictestOf(verdicts: readonly Verdict[]): Verdict {
  const decision = strictest(verdicts.map((verdict) => verdict.decision));
  return verdicts.find((verdict) => verdict.decision === decision) ?? ask('No rule applies.');
}

export function allow(reason: string): Verdict {
  return { decision: 'allow', reason };
}

export function ask(reason: string): Verdict {
  return { decision: 'ask', reason };
}

export function deny(reason: string): Verdict {
  return { decision: 'deny', reason };
}

export function verdictBy(
  { tool, pattern, decision }: Rule,
  whose: 'this machine' | 'the workspace',
): Verdict {
  const reason = `The rules of ${whose} say so: ${decision} ${tool} "${pattern}".`;
  return { decision, reason };
}
