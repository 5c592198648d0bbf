/** Lets the model for small tasks title a conversation once its first message is answered. */

import {
  type ModelEnv,
  type ModelTarget,
  modelForRole,
  resolveTarget,
  type UpstreamRequest,
} from '../../packages/model/index.ts';
import { buildTitleQuery, TITLE_PROMPT } from '../../packages/prompt/index.ts';
import { textOf } from '../../shared/api/requests.ts';
import { askCounted } from '../ask-model.ts';
import { TimeLimit } from '../time-limit.ts';
import type { Deadline } from './deadlines.ts';
import type { Listing } from './listing.ts';
import type { TapeReader } from './reading/reader.ts';
import type { RunWatch } from './run-watch.ts';
import { entryOf } from './store/model-requests.ts';
import type { Run } from './store/rows.ts';
import type { RunStore } from './store/run-statements.ts';
import { plainTitle } from './store/title.ts';
import type { Recorder } from './tape/recorder.ts';

const TITLE_LIMITS = {
  /** Attempts for one conversation: one more for a crash or a passing failure. A title is not worth a third. */
  maxAttempts: 2,
  /** UTF-16 units of the message, and of the answer, that the model gets: enough to see what it is about. */
  maxSentChars: 2_000,
  /** Tokens of the model's answer: a title is shorter, and some models think first. */
  maxTokens: 1_000,
  /** The time of one attempt. Small models answer within seconds. */
  maxAttemptMs: 30_000,
} as const;

export interface TitleDeps {
  readonly listing: Listing;
  readonly runs: RunStore;
  readonly reader: TapeReader;
  readonly recorder: Recorder;
  readonly watch: RunWatch;
  readonly settings: ModelEnv;
  /** Sets the alarm for the deadline of an attempt that dies with its instance. */
  readonly arm: () => Promise<void>;
}

/** Stores each attempt before it is made, and the title with its event. Never writes over a settled title. */
export class Titles {
  readonly #deps: TitleDeps;
  readonly #stopping = new AbortController();
  #isAsking = false;
  /** The first run with an answer. Undefined until it is looked up, null while there is none. */
  #answered: Run | null | undefined;

  constructor(deps: TitleDeps) {
    this.#deps = deps;
  }

  /** The time at which the alarm must call {@link advance}. */
  deadlines(nowMs: number): Deadline<'title'>[] {
    return this.#due ? [{ name: 'title', atMs: nowMs }] : [];
  }

  /** To be called when a run has finished. Begins the attempt that is due. Returns at once, and never throws. */
  advance(): void {
    if (this.#answered === null) this.#answered = undefined;
    const due = this.#isAsking ? null : this.#due;
    if (!due) return;
    this.#isAsking = true;
    this.#deps.listing.countTitleAttempt();
    void this.#attempt(due)
      .catch((error) => {
        if (!this.#stopping.signal.aborted)
          this.#deps.watch.log('title_failed', due.run, { error });
      })
      .finally(() => {
        this.#isAsking = false;
      });
  }

  /** Ends the attempt under way: the conversation is deleted. */
  stop(): void {
    this.#stopping.abort(new Error('the conversation is deleted'));
  }

  get #due(): Due | null {
    const { listing, runs, settings } = this.#deps;
    const attempts = listing.row.titleAttempts;
    if (attempts === null || attempts >= TITLE_LIMITS.maxAttempts) return null;
    const model = fastModel(settings);
    if (model === null) return null;
    if (this.#answered === undefined) this.#answered = runs.readFirstAnswered();
    return this.#answered && { run: this.#answered, model };
  }

  async #attempt({ run, model }: Due): Promise<void> {
    const { listing, recorder, reader, settings, arm } = this.#deps;
    await arm();
    const target = resolveTarget(model, settings);
    const { reply } = await this.#askInTime(target, this.#requestOf(run, model));
    const title = reply.outcome === 'completed' ? plainTitle(reply.text) : null;
    // A person may have given a title meanwhile.
    if (title === null || this.#stopping.signal.aborted || !listing.entitle(title)) return;
    const { archived } = listing.row;
    const usage = reply.usage && { usage: reply.usage };
    recorder.record([{ type: 'conversation_update', title, archived, ...usage }]);
    const spent =
      target.kind === 'demo' ? undefined : entryOf({ model, usage: reply.usage }, 0, Date.now());
    await listing.publish(reader.answeredMs(), spent);
  }

  async #askInTime(target: ModelTarget, request: UpstreamRequest) {
    using late = new TimeLimit(TITLE_LIMITS.maxAttemptMs);
    const signal = AbortSignal.any([this.#stopping.signal, late.signal]);
    return await askCounted(target, request, () => undefined, signal);
  }

  #requestOf(run: Run, model: string): UpstreamRequest {
    const { documents } = this.#deps.reader.response(run);
    const answer = documents
      .map(({ type, content }) => (type === 'text' ? content : ''))
      .join('\n');
    const message = textOf(run.request.messages.at(-1)?.content ?? '');
    return {
      model,
      messages: [
        { role: 'system', content: TITLE_PROMPT },
        { role: 'user', content: buildTitleQuery(beginningOf(message), beginningOf(answer)) },
      ],
      tools: [],
      isOnce: true,
      sampling: { maxTokens: TITLE_LIMITS.maxTokens },
    };
  }
}

/** An attempt that can begin. */
interface Due {
  /** The first run with an answer, which the title is made of. */
  readonly run: Run;
  readonly model: string;
}

/** Null without a model for small tasks: a title by the run's own model would be a cost that no one asked for. */
function fastModel(settings: ModelEnv): string | null {
  try {
    return modelForRole('fast', null, settings);
  } catch {
    return null; // A bad table. The next message reports it.
  }
}

function beginningOf(text: string): string {
  return text.trim().slice(0, TITLE_LIMITS.maxSentChars).toWellFormed();
}
