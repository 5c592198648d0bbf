/** Reports to the account whether the conversation answers, and what of it waits for a person. */
import { waitUntil } from 'cloudflare:workers';
import { openAsksIn } from '../../shared/shown/asks.ts';
import { askKeyOf } from '../../shared/wire/fold.ts';
import type { Env } from '../env.ts';
import { isSameLevel, LevelReport } from '../level-report.ts';
import { accountOf } from '../objects.ts';
import type { Activity } from '../ports/account.ts';
import { inTime } from '../reach.ts';
import type { RowMeter } from '../storage/row-meter.ts';
import { isListed, type ListedState } from './listing.ts';
import type { ConversationRow } from './store/rows.ts';
import type { Recorder } from './tape/recorder.ts';

export interface ActivityDeps {
  readonly row: Pick<ConversationRow, 'id' | 'owner' | 'parent' | 'title' | 'ephemeral'>;
  readonly env: Pick<Env, 'ACCOUNTS'>;
  readonly recorder: Pick<Recorder, 'response'>;
  /** As the list shows them. */
  readonly state: Pick<ListedState, 'isRunning' | 'hasSubagents'>;
  /** Does work after all that was reported to the account before. */
  readonly inOrder: (work: () => Promise<void>) => Promise<void>;
  readonly meter: RowMeter;
  /** Sets the alarm for {@link ActivityReport.dueMs}. */
  readonly arm: () => Promise<void>;
}

/** Milliseconds until a list shows that a response has begun: its first word does not wait for the account. */
const BEGINNING_MS = 300;

/**
 * The runs and the tape are the truth: a new instance reports again at its first alarm. A subagent reports nothing,
 * because the conversation that started it waits too.
 */
export class ActivityReport {
  readonly #deps: ActivityDeps;
  /** The activity at the last look. */
  #seen: Activity;
  /** What was last sent to the account, for the count of rows. */
  #sent: Activity;
  readonly #level: LevelReport<Activity>;
  #isLooking = false;
  /** While the beginning of a response waits to be sent: gets the report that is made then, or before. */
  #onReport: ((report?: Promise<void>) => void) | undefined;

  constructor(deps: ActivityDeps, isStored: boolean) {
    this.#deps = deps;
    const { row } = deps;
    const isRunning = isListed(row); // The list has a new conversation as running.
    this.#level = new LevelReport(
      { present: () => this.#activity, send: (activity) => this.#send(activity) },
      {
        hasSubagents: false,
        ...((!isStored || !isRunning) && { isRunning }),
        ...((!isStored || row.parent) && { asks: '', approvals: 0, questions: 0 }),
      },
    );
    this.#seen = this.#activity;
    this.#sent = { ...this.#seen, isRunning: isStored ? this.#seen.isRunning : isRunning };
  }

  /**
   * Due while the account may have something else. Where this instance dies before it has sent a beginning, the next one
   * finds the response at the alarm that every running response has.
   */
  dueMs(): number | null {
    return this.#onReport ? null : this.#level.dueMs();
  }

  /** Reports a change, after the caller's synchronous step. To be called after each record. */
  look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      const [before, activity] = [this.#seen, this.#activity];
      this.#seen = activity;
      if (isSameLevel(before, activity)) return;
      const hasBegun = activity.isRunning && !before.isRunning && before.asks === activity.asks;
      if (!hasBegun) this.#sendNow();
      else if (!this.#onReport) this.#wait();
    });
  }

  /** Holds the request that began the response until then: without a request, workerd refuses to call the account. */
  #wait(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.#sendNow(), BEGINNING_MS);
    this.#onReport = (report) => {
      clearTimeout(timer);
      resolve(report);
    };
    waitUntil(promise);
  }

  #sendNow(): void {
    const onReport = this.#onReport;
    this.#onReport = undefined;
    if (this.#level.isHeard) return onReport?.();
    void this.#deps.arm();
    const report = this.report();
    onReport?.(report);
  }

  async #send(activity: Activity): Promise<void> {
    const { row, env, meter } = this.#deps;
    const sent = this.#sent;
    this.#sent = activity;
    // The account has a row for what waits, and one in its list, which the end of an answer writes anyway.
    if (activity.asks !== sent.asks) meter.count(1);
    const isOther = !sent.isRunning || activity.hasSubagents !== sent.hasSubagents;
    if (activity.isRunning && isOther) meter.count(1);
    await inTime<void>(accountOf(env, row.owner).acts(row.id, activity));
  }

  /** The account has this with the entry of the list. */
  listed({ isRunning, hasSubagents }: Pick<Activity, 'isRunning' | 'hasSubagents'>): void {
    this.#level.learn({ isRunning, hasSubagents });
    this.#sent = { ...this.#sent, isRunning, hasSubagents };
  }

  /** Never rejects: the deadline stays until the account has the report. */
  report(): Promise<void> {
    return this.#deps.inOrder(() => this.#level.report());
  }

  get #activity(): Activity {
    const { row, recorder, state } = this.#deps;
    const asks = row.parent ? [] : openAsksIn(row, recorder.response);
    const approvals = asks.filter(({ kind }) => kind === 'approval').length;
    const questions = asks.length - approvals;
    // A later response can have a document with the same id.
    const keys = asks.map((ask) => `${ask.responseId} ${askKeyOf(ask)}`);
    const flags = { isRunning: state.isRunning(), hasSubagents: state.hasSubagents() };
    return { ...flags, approvals, questions, asks: keys.join('\n') };
  }
}
