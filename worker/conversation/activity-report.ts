/** Reports to the account whether the conversation answers, and what of it waits for a person. */
import { waitUntil } from 'cloudflare:workers';
import { openAsksIn } from '../../shared/shown/asks.ts';
import { askKeyOf } from '../../shared/wire/fold.ts';
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import type { Activity } from '../ports/account.ts';
import { inTime } from '../reach.ts';
import type { RowMeter } from '../storage/row-meter.ts';
import type { Deadline } from './deadlines.ts';
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
  /** Sets the alarm for {@link ActivityReport.deadlines}. */
  readonly arm: () => Promise<void>;
}

/** Milliseconds until a list shows that a response has begun: its first word does not wait for the account. */
const BEGINNING_MS = 300;

const PARTS = ['asks', 'isRunning', 'hasSubagents'] as const;

/** The parts by which two activities differ; null while unknown. */
type KnownActivity = { readonly [Part in (typeof PARTS)[number]]: Activity[Part] | null };

/**
 * The runs and the tape are the truth. A report that is made twice changes nothing, so no row says what was reported: a
 * new instance reports again at its first alarm. A subagent reports nothing, because the conversation that started it
 * waits too.
 */
export class ActivityReport {
  readonly #deps: ActivityDeps;
  /** The activity at the last look. */
  #seen: Activity;
  /** What was last sent to the account, for the count of rows. */
  #sent: Activity;
  /** What the account has. */
  #reported: KnownActivity;
  #isLooking = false;
  /** While the beginning of a response waits to be sent: gets the report that is made then, or before. */
  #onReport: ((report?: Promise<void>) => void) | undefined;

  constructor(deps: ActivityDeps, isStored: boolean) {
    this.#deps = deps;
    this.#seen = this.#activity;
    const { row } = deps;
    this.#reported = {
      asks: isStored && !row.parent ? null : '',
      // A new conversation is listed as running.
      isRunning: isListed(row) && (isStored ? null : true),
      hasSubagents: false,
    };
    this.#sent = { ...this.#seen, isRunning: this.#reported.isRunning ?? this.#seen.isRunning };
  }

  /**
   * Due while the account may have something else. Where this instance dies before it has sent a beginning, the next one
   * finds the response at the alarm that every running response has.
   */
  deadlines(nowMs: number): Deadline<'activity'>[] {
    const isDue = this.#onReport === undefined && !isSame(this.#reported, this.#activity);
    return isDue ? [{ name: 'activity', atMs: nowMs }] : [];
  }

  /** Reports a change, after the caller's synchronous step. To be called after each record. */
  look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      const [before, activity] = [this.#seen, this.#activity];
      this.#seen = activity;
      if (isSame(before, activity)) return;
      const hasBegun = activity.isRunning && !before.isRunning && before.asks === activity.asks;
      if (!hasBegun) this.#send();
      else if (!this.#onReport) this.#wait();
    });
  }

  /** Holds the request that began the response until then: without a request, workerd refuses to call the account. */
  #wait(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.#send(), BEGINNING_MS);
    this.#onReport = (report) => {
      clearTimeout(timer);
      resolve(report);
    };
    waitUntil(promise);
  }

  #send(): void {
    const onReport = this.#onReport;
    this.#onReport = undefined;
    const [sent, activity] = [this.#sent, this.#activity];
    if (isSame(this.#reported, activity)) return onReport?.();
    this.#sent = activity;
    const { asks, isRunning, hasSubagents } = activity;
    // The account has a row for what waits, and one in its list, which the end of an answer writes anyway.
    if (asks !== sent.asks) this.#deps.meter.count(1);
    const isOther = !sent.isRunning || hasSubagents !== sent.hasSubagents;
    if (isRunning && isOther) this.#deps.meter.count(1);
    void this.#deps.arm();
    const report = this.report();
    onReport?.(report);
  }

  /** The account has this with the entry of the list. */
  listed({ isRunning, hasSubagents }: Pick<Activity, 'isRunning' | 'hasSubagents'>): void {
    this.#reported = { ...this.#reported, isRunning, hasSubagents };
    this.#sent = { ...this.#sent, isRunning, hasSubagents };
  }

  /** Never rejects: the deadline stays until the account has the report. */
  async report(): Promise<void> {
    const { row, env, inOrder } = this.#deps;
    await inOrder(async () => {
      const activity = this.#activity;
      if (isSame(this.#reported, activity)) return;
      this.#reported = { asks: null, isRunning: null, hasSubagents: null };
      await inTime<void>(accountOf(env, row.owner).acts(row.id, activity));
      this.#reported = activity;
    }).catch(() => undefined); // The account's object was reset: it may have the report or not.
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

function isSame(one: KnownActivity, other: KnownActivity): boolean {
  return PARTS.every((part) => one[part] === other[part]);
}
