/** Reports to the account what responses have spent, so that each response counts exactly once. */
import { DAY } from '../../shared/units.ts';
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import type { Heard, SpentSince } from '../ports/account.ts';
import { inTime } from '../reach.ts';
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
  /** Whether the account is to list the conversation. */
  readonly isListed: boolean;
  readonly env: Pick<Env, 'ACCOUNTS'>;
  readonly log: RunLog;
  readonly runs: RunStore;
}

/** What the account has not heard of. */
export interface Unheard {
  /** The account has heard of the runs up to this one. */
  readonly after: number;
  /** Null where it has counted all of them. */
  readonly spent: SpentSince | null;
  readonly isUnlisted: boolean;
}

/**
 * The rows of the runs are the truth, and the account remembers through which run it has counted, and whether it lists
 * the conversation. A new instance asks for that first. So a report that is lost in a crash is made again, and one that
 * was lost on its way back counts once.
 */
export class UsageReport {
  readonly #deps: UsageDeps;
  /** Null until the account is asked. */
  #heard: Heard | null;
  /** Whether a run may have finished that the account has not counted. */
  #isDue: boolean;

  /** An instance that finds a conversation does not know what an earlier one has reported. */
  constructor(deps: UsageDeps, isStored: boolean) {
    this.#deps = deps;
    this.#isDue = isStored;
    this.#heard = isStored ? null : { isListed: false, through: 0 };
  }

  /** The alarm comes after each run anyway, and finds here what is still to be reported. */
  deadlines(nowMs: number): Deadline<'usage'>[] {
    return this.#isDue ? [{ name: 'usage', atMs: nowMs }] : [];
  }

  /** To be called when a run has finished. */
  ended(): void {
    this.#isDue = true;
  }

  /** @throws if the account cannot be reached. */
  async next(nowMs: number): Promise<Unheard> {
    const { row, env, log, runs } = this.#deps;
    const { id, owner, created } = row;
    const through = (log.current?.ordinal ?? log.newest + 1) - 1;
    const heard = this.#heard ?? (await inTime<Heard>(accountOf(env, owner).heard(id)));
    const after = heard.through ?? through - 1;
    this.#heard = { isListed: heard.isListed, through: after };
    this.#isDue = through > after;
    const isUnlisted = this.#deps.isListed && !heard.isListed;
    if (!this.#isDue) return { after, spent: null, isUnlisted };
    // The turns of a copied conversation are older than the copy, and count where they were made.
    const sinceMs = Math.max(Date.parse(created), nowMs - USAGE_REPORT_LIMITS.maxAgeMs);
    const requests = runs.readModelRequests(after, through);
    const spent = { after, through, entries: entriesOf(requests, sinceMs, nowMs) };
    return { after, spent, isUnlisted };
  }

  /** The account has counted it. */
  counted({ through }: SpentSince): void {
    this.#heard = { isListed: this.#heard?.isListed ?? false, through };
    this.#isDue = false;
  }

  /** The account lists the conversation. */
  listed(): void {
    if (this.#heard) this.#heard = { ...this.#heard, isListed: true };
  }

  /** It is not known what the account has heard. */
  failed(): void {
    this.#heard = null;
    this.#isDue = true;
  }
}
