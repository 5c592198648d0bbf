/** A subagent's link to the conversation that started it: reports its state until the parent knows of the end. */
import { asksIn } from '../../../shared/shown/asks.ts';
import { askKeyOf } from '../../../shared/wire/fold.ts';
import type { Env } from '../../env.ts';
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
 * Reports the whole state each time, so a report that is lost or sent twice does no harm. No row says what the parent has
 * heard: a new instance takes it that an end and an open question were not heard, and that everything else was.
 */
export class ParentLink {
  readonly #deps: ParentLinkDeps;
  #heard: ParentNews = { news: NOTHING, atMs: 0 };
  /** When the alarm reports again what was not heard. */
  #againMs = 0;
  #isNotifying = false;

  constructor(deps: ParentLinkDeps) {
    this.#deps = deps;
  }

  /** When {@link notify} is due again; null while the parent knows all that matters. */
  dueMs(): number | null {
    return this.#news() === this.#heard.news ? null : this.#againMs;
  }

  /**
   * Reports what is new: a question or an end at once, mere progress now and then. Sets the alarm in its caller's
   * synchronous step, so that what the step stores is sent even if this instance dies now. Returns at once.
   */
  notify(): void {
    if (this.#isNotifying) return; // It looks again when it has sent.
    const { now, arm } = this.#deps;
    const isNews = this.#news() !== this.#heard.news;
    if (!isNews && now() < this.#heard.atMs + TASK_LIMITS.progressMs) return;
    if (isNews) {
      this.#againMs = now() + TASK_LIMITS.retryMs;
      void arm();
    }
    void this.#notify();
  }

  /** Reports everything anew, because the parent asks. */
  remind(): void {
    this.#heard = UNHEARD;
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

  async #notify(): Promise<void> {
    const { env, parent, now, onOver } = this.#deps;
    this.#isNotifying = true;
    const news = this.#news();
    try {
      const asking = conversationOf(env, parent).taskReport(parent.callId, this.#report());
      const answer = await inTime<'wanted' | 'over' | 'gone'>(asking);
      this.#heard = { news, atMs: now() };
      this.#isNotifying = false;
      if (answer === 'gone' || (answer === 'over' && this.#run.last === null)) {
        onOver(answer === 'gone');
      } else if (this.#news() !== news) this.notify();
    } catch {
      this.#isNotifying = false; // The parent's object was reset: the alarm tries again.
    }
  }

  /** What the parent must hear of, as text to compare. */
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

/** What the parent has heard. */
interface ParentNews {
  readonly news: string;
  readonly atMs: number;
}

const UNHEARD: ParentNews = { news: 'nothing was heard', atMs: 0 };

/** The news of a subagent that works and asks nothing. */
const NOTHING = '';

/** For a run whose row is damaged. */
const UNKNOWN_ROLE = { type: 'unknown', depth: 1, mayStart: 0 };
