/** What a check of `drawbridge doctor` found. */

/** `bad`: something does not work until the advice is followed. `note`: worth knowing. */
export type FindingVerdict = 'good' | 'note' | 'bad';

export interface CheckResult {
  /** What was looked at, in one or two words. */
  readonly about: string;
  readonly verdict: FindingVerdict;
  /** One sentence or a few words; holds no secret. */
  readonly says: string;
  /** What to do. */
  readonly advice?: string | undefined;
}

export function good(about: string, says: string): CheckResult {
  return { about, verdict: 'good', says };
}

export function note(about: string, says: string, advice?: string): CheckResult {
  return { about, verdict: 'note', says, advice };
}

export function bad(about: string, says: string, advice?: string): CheckResult {
  return { about, verdict: 'bad', says, advice };
}
