/** Reports to the account what of the conversation waits for a person. */
import { openAsksIn } from '../../shared/shown/asks.ts';
import { askKeyOf } from '../../shared/wire/fold.ts';
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import type { Waiting } from '../ports.ts';
import type { RowMeter } from '../storage/row-meter.ts';
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
  /** `asks` at the last look. */
  #seen: string;
  /** `asks` that the account has; null while that is not known. */
  #reported: string | null;
  #reporting: Promise<void> = Promise.resolve();

  constructor(deps: WaitsDeps, isStored: boolean) {
    this.#deps = deps;
    this.#seen = this.#waiting.asks;
    this.#reported = isStored && !deps.row.parent ? null : '';
  }

  /** Due while the account may have something else. */
  deadlines(nowMs: number): Deadline<'waits'>[] {
    return this.#reported === this.#waiting.asks ? [] : [{ name: 'waits', atMs: nowMs }];
  }

  /** Reports a change. To be called after each record; the alarm is set at the end of the caller's synchronous step. */
  look(): void {
    const { asks } = this.#waiting;
    if (this.#seen === asks) return;
    this.#seen = asks;
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
    const waiting = this.#waiting;
    if (this.#reported === waiting.asks) return;
    this.#reported = null;
    const { row, env } = this.#deps;
    try {
      await accountOf(env, row.owner).waits(row.id, waiting);
      this.#reported = waiting.asks;
    } catch {
      // The account's object was reset: it may have the report or not.
    }
  }

  get #waiting(): Waiting {
    const { row, recorder } = this.#deps;
    const asks = row.parent ? [] : openAsksIn(row, recorder.response);
    const approvals = asks.filter(({ kind }) => kind === 'approval').length;
    const questions = asks.length - approvals;
    return { approvals, questions, asks: asks.map(askKeyOf).join('\n') };
  }
}
