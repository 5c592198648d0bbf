/** Reports to the account what responses have spent, so that each response counts exactly once. */
import { DAY } from '../../shared/units.ts';
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import type { SpentSince } from '../ports/account.ts';
import type { Deadline } from './deadlines.ts';
import type { RunLog } from './log/run-log.ts';
import { entriesOf } from './store/model-requests.ts';
import type { ConversationRow } from './store/rows.ts';
import type { RunStore } from './store/run-statements.ts';

const USAGE_REPORT_LIMITS = {
  /** Older responses are given up: the account must remember them until then. */
  maxAgeMs: DAY,
} as const;

export interface UsageDeps {
  readonly row: Pick<ConversationRow, 'id' | 'owner' | 'created'>;
  readonly env: Pick<Env, 'ACCOUNTS'>;
  readonly log: RunLog;
  readonly runs: RunStore;
}

/**
 * The rows of the runs are the truth, and the account remembers through which run it has counted. A new instance asks
 * for that number first. So a report that is lost in a crash is made again, and one that was lost on its way back
 * counts once.
 */
export class UsageReport {
  readonly #deps: UsageDeps;
  /** The account has counted the runs up to this one; null until it is asked. */
  #through: number | null = null;
  /** Whether a run may have finished that the account has not counted. */
  #isDue: boolean;

  /** An instance that finds a conversation does not know what an earlier one has reported. */
  constructor(deps: UsageDeps, isStored: boolean) {
    this.#deps = deps;
    this.#isDue = isStored;
    if (!isStored) this.#through = 0;
  }

  /** The alarm comes after each run anyway, and finds here what is still to be reported. */
  deadlines(nowMs: number): Deadline<'usage'>[] {
    return this.#isDue ? [{ name: 'usage', atMs: nowMs }] : [];
  }

  /** To be called when a run has finished. */
  ended(): void {
    this.#isDue = true;
  }

  /** What the account has not counted; null without anything. @throws if the account cannot be reached. */
  async next(nowMs: number): Promise<SpentSince | null> {
    const { row, env, log, runs } = this.#deps;
    const { id, owner, created } = row;
    const through = (log.current?.ordinal ?? log.newest + 1) - 1;
    const after = this.#through ?? (await accountOf(env, owner).counted(id)) ?? through - 1;
    this.#through = after;
    this.#isDue = through > after;
    if (!this.#isDue) return null;
    // The turns of a copied conversation are older than the copy, and count where they were made.
    const sinceMs = Math.max(Date.parse(created), nowMs - USAGE_REPORT_LIMITS.maxAgeMs);
    const requests = runs.readModelRequests(after, through);
    return { after, through, entries: entriesOf(requests, sinceMs, nowMs) };
  }

  /** The account has counted it. */
  counted({ through }: SpentSince): void {
    this.#through = through;
    this.#isDue = false;
  }

  /** It is not known whether the account has counted it. */
  failed(): void {
    this.#through = null;
    this.#isDue = true;
  }
}
