/** A subagent's link to the conversation that started it: reports its state until the parent knows of the end. */
import { asksIn } from '../../../shared/shown/asks.ts';
import { askKeyOf } from '../../../shared/wire/fold.ts';
import type { Env } from '../../env.ts';
import { LevelReport } from '../../level-report.ts';
import { conversationOf } from '../../objects.ts';
import type { TaskReport } from '../../ports/conversation.ts';
import { inTime } from '../../reach.ts';
import type { RunLog } from '../log/run-log.ts';
import type { TapeReader } from '../reading/reader.ts';
import { subagentOf } from '../store/errands.ts';
import type { ConversationRow, Parent, Run } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { Recorder } from '../tape/recorder.ts';
import { TASK_LIMITS } from './limits.ts';
import { endOf, type Reported, stateOf } from './report.ts';

export interface ParentLinkDeps {
  readonly env: Env;
  readonly parent: Parent;
  /** The conversation's row, which a rename replaces. */
  readonly listing: { readonly row: Pick<ConversationRow, 'id' | 'title'> };
  readonly log: RunLog;
  readonly runs: RunStore;
  readonly recorder: Recorder;
  readonly reader: TapeReader;
  readonly head: () => number;
  readonly now: () => number;
  /** Sets the alarm for {@link ParentLink.dueMs}. */
  readonly arm: () => Promise<void>;
  /** Called when no one waits for the subagent any more; `isGone` if its parent was deleted. Must not throw. */
  readonly onOver: (isGone: boolean) => void;
}

/**
 * Sends the whole state each time. A new instance takes it that the parent has not heard of an end or an open question,
 * and knows everything else.
 */
export class ParentLink {
  readonly #deps: ParentLinkDeps;
  readonly #level: LevelReport<{ readonly news: string }>;
  #heardMs = 0;

  constructor(deps: ParentLinkDeps) {
    this.#deps = deps;
    this.#level = new LevelReport(
      {
        present: () => ({ news: this.#news() }),
        send: () => this.#send(),
        againMs: TASK_LIMITS.retryMs,
      },
      { news: NOTHING },
    );
  }

  /** When {@link report} is due; null while the parent knows all that matters. */
  dueMs(): number | null {
    return this.#level.dueMs();
  }

  /**
   * Reports what is new: a question or an end at once, mere progress now and then. Sets the alarm in its caller's
   * synchronous step, so that what the step stores is sent even if this instance dies now. Returns at once.
   */
  notify(): void {
    const { now, arm } = this.#deps;
    const isProgress = now() >= this.#heardMs + TASK_LIMITS.progressMs;
    void this.#level.report(isProgress);
    if (!this.#level.isHeard) void arm();
  }

  /** Reports what the parent has not heard of. */
  report(): Promise<void> {
    return this.#level.report();
  }

  /** Reports everything anew, because the parent asks. */
  remind(): void {
    this.#heardMs = 0;
    this.#level.forget();
    this.notify();
  }

  #report(): TaskReport {
    const { head } = this.#deps;
    const reported = this.#reported();
    const { response } = reported;
    const base = { position: head(), state: stateOf(reported) };
    return this.#run.last === null
      ? { ...base, asks: asksIn(reported.row, response) }
      : {
          ...base,
          state: { ...base.state, status: response.status },
          asks: [],
          end: endOf(reported),
        };
  }

  async #send(): Promise<void> {
    const { env, parent, now, onOver } = this.#deps;
    const asking = conversationOf(env, parent).taskReport(parent.callId, this.#report());
    const answer = await inTime<'wanted' | 'over' | 'gone'>(asking);
    this.#heardMs = now();
    if (answer === 'gone') this.#level.stop();
    if (answer === 'gone' || (answer === 'over' && this.#run.last === null)) {
      onOver(answer === 'gone');
    }
  }

  /** What the parent must hear of at once, as text to compare. */
  #news(): string {
    const { log, recorder, listing } = this.#deps;
    const run = log.find(1); // A conversation that is just being created has no run yet.
    if (run && run.last !== null) return 'ended';
    return asksIn(listing.row, recorder.response).map(askKeyOf).join('\n');
  }

  #reported(): Reported {
    const { listing, reader, recorder, log, runs } = this.#deps;
    const run = this.#run;
    const isAtWork = run.last === null && recorder.response !== null;
    const turns = isAtWork ? log.turns : runs.turns.readTurns(run.firstTurn ?? 1, run.ordinal);
    const response = isAtWork ? recorder.response : reader.response(run);
    return { row: listing.row, role: subagentOf(run.request) ?? UNKNOWN_ROLE, response, turns };
  }

  /** A subagent's conversation has one message. */
  get #run(): Run {
    const run = this.#deps.log.find(1);
    if (!run) throw new Error('a subagent has no run');
    return run;
  }
}

/** The news of a subagent that works and asks nothing. */
const NOTHING = '';

/** For a run whose row is damaged. */
const UNKNOWN_ROLE = { type: 'unknown', depth: 1, mayStart: 0 };
