/** Does tasks elsewhere, bounded in number, time and memory. What has to be ended is started anew. */
import { addAbortListener } from 'node:events';
import { newDeferred } from '../deferred.ts';
import { ToolFailure } from '../failure.ts';
import { FairLine } from './fair-line.ts';
import { outputOf, type TaskAnswer, type TaskQuestion } from './messages.ts';
import { currentOwner } from './owner.ts';
import type { Task } from './task.ts';
import { TOO_COMPLEX, tooLarge, tooLong } from './too-complex.ts';

/** The one that waits for an answer. */
export interface AnswerTaker {
  readonly take: (answer: TaskAnswer) => void;
  /** For the end of the place without an answer. */
  readonly fail: (error: Error) => void;
}

/** A thread or process that answers one question after the other. */
export interface WorkPlace {
  /** Sends the question. Disposed of, it calls the asker no more. */
  readonly ask: (question: TaskQuestion, asker: AnswerTaker) => Disposable;
  /** Whether the present task takes too much memory. */
  readonly isTooLarge: () => boolean | Promise<boolean>;
  /** Whether it keeps this process alive. */
  readonly keepAlive: (isKept: boolean) => void;
  readonly hasEnded: () => boolean;
  readonly end: () => void;
}

export interface RunnerLimits {
  readonly maxMs: number;
  readonly pollMs: number;
  /** Milliseconds without work until the place ends, because it may hold much memory. */
  readonly idleMs: number;
  /** Tasks at once, of different workspaces. One where it is not given. */
  readonly places?: number;
}

/** A place begins with the first task. A working one keeps the process alive, an idle one does not. */
export class TaskRunner {
  readonly #begin: (signal: AbortSignal) => Promise<WorkPlace>;
  readonly #limits: RunnerLimits;
  readonly #line: FairLine;
  /** Places without a task, and what ends each after a while. */
  readonly #idle = new Map<WorkPlace, NodeJS.Timeout>();

  constructor(begin: (signal: AbortSignal) => Promise<WorkPlace>, limits: RunnerLimits) {
    this.#begin = begin;
    this.#limits = limits;
    this.#line = new FairLine(limits.places);
  }

  /** Does a task when it is its workspace's turn. Fails as `compute` says. */
  async run<Input, Output>(
    { name }: Task<Input, Output>,
    input: Input,
    signal: AbortSignal,
  ): Promise<Output> {
    const ask = () => this.#ask({ name, input }, signal);
    return (await this.#line.run(currentOwner(), ask, signal)) as Output;
  }

  async #ask(question: TaskQuestion, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const place = this.#takeIdle() ?? (await this.#begin(signal));
    place.keepAlive(true);
    try {
      const output = outputOf(await answerOf(place, question, this.#limits, signal));
      this.#keep(place);
      return output;
    } catch (error) {
      if (error instanceof ToolFailure && error.code !== TOO_COMPLEX) this.#keep(place);
      else place.end();
      throw error;
    } finally {
      place.keepAlive(false);
    }
  }

  #takeIdle(): WorkPlace | undefined {
    for (const [place, ending] of this.#idle) {
      clearTimeout(ending);
      this.#idle.delete(place);
      if (!place.hasEnded()) return place;
    }
    return undefined;
  }

  #keep(place: WorkPlace): void {
    const end = () => {
      this.#idle.delete(place);
      place.end();
    };
    this.#idle.set(place, setTimeout(end, this.#limits.idleMs).unref());
  }
}

/** Rejects when the time is up, the signal aborts or the place ends. It cannot be used afterwards. */
async function answerOf(
  place: WorkPlace,
  question: TaskQuestion,
  { maxMs, pollMs }: RunnerLimits,
  signal: AbortSignal,
): Promise<TaskAnswer> {
  const { promise, resolve, reject } = newDeferred<TaskAnswer>();
  const timer = setTimeout(() => reject(tooLong(maxMs)), maxMs);
  let isLooking = false;
  const watch = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      if (await place.isTooLarge()) reject(tooLarge());
    } catch (error) {
      reject(error);
    }
    isLooking = false;
  }, pollMs);
  using _leaving = addAbortListener(signal, () => reject(signal.reason));
  try {
    using _asking = place.ask(question, { take: resolve, fail: reject });
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
  }
}
