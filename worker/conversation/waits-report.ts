/** Reports to the account whether questions of the conversation wait for a person. The tunnels know of approvals. */
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import type { RowMeter } from '../storage/row-meter.ts';
import { waitingQuestions } from './calls/clarifications.ts';
import type { Deadline } from './deadlines.ts';
import type { ConversationRow } from './store/rows.ts';
import type { Recorder } from './tape/recorder.ts';

export interface WaitsDeps {
  readonly row: Pick<ConversationRow, 'id' | 'owner' | 'parent' | 'title'>;
  readonly env: Pick<Env, 'ACCOUNTS'>;
  readonly recorder: Pick<Recorder, 'response'>;
  readonly meter: RowMeter;
  /** Sets the alarm for {@link WaitsReport.deadlines}. */
  readonly arm: () => Promise<void>;
}

/**
 * The tape is the truth. A report that is made twice changes nothing, so no row says what was reported: a new instance
 * reports again at its first alarm. A subagent reports nothing, because the conversation that started it waits too.
 */
export class WaitsReport {
  readonly #deps: WaitsDeps;
  /** Whether the conversation waited at the last look. */
  #seen: boolean;
  /** What the account has; null while that is not known. */
  #reported: boolean | null;
  #reporting: Promise<void> = Promise.resolve();

  constructor(deps: WaitsDeps, isStored: boolean) {
    this.#deps = deps;
    this.#seen = this.#isWaiting;
    this.#reported = isStored && !deps.row.parent ? null : false;
  }

  /** Due while the account may have something else. */
  deadlines(nowMs: number): Deadline<'waits'>[] {
    return this.#reported === this.#isWaiting ? [] : [{ name: 'waits', atMs: nowMs }];
  }

  /** Reports a change. To be called after each record; the alarm is set at the end of the caller's synchronous step. */
  look(): void {
    if (this.#seen === this.#isWaiting) return;
    this.#seen = this.#isWaiting;
    this.#deps.meter.count(1); // The account's.
    queueMicrotask(() => {
      void this.#deps.arm();
      void this.report();
    });
  }

  /** Never rejects: the deadline stays until the account has the report. */
  report(): Promise<void> {
    this.#reporting = this.#reporting.then(() => this.#report());
    return this.#reporting;
  }

  async #report(): Promise<void> {
    const isWaiting = this.#isWaiting;
    if (this.#reported === isWaiting) return;
    this.#reported = null;
    const { row, env } = this.#deps;
    try {
      await accountOf(env, row.owner).waits(row.id, isWaiting);
      this.#reported = isWaiting;
    } catch {
      // The account's object was reset: it may have the report or not.
    }
  }

  get #isWaiting(): boolean {
    const { row, recorder } = this.#deps;
    return !row.parent && waitingQuestions(row, recorder.response).length > 0;
  }
}
