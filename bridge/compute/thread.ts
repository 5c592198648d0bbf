/** A thread for computations that would hold the bridge up: one at a time, bounded in time and memory. */

import { addAbortListener } from 'node:events';
import { Worker } from 'node:worker_threads';
import { newDeferred } from '../../machine/deferred.ts';
import { MIB } from '../../shared/units.ts';
import { ToolFailure } from '../failure.ts';
import { Lanes } from '../lanes.ts';
import { COMPUTE_LIMITS } from './limits.ts';
import { outputOf, type TaskAnswer, type TaskQuestion } from './messages.ts';
import type { InputOf, OutputOf, TaskName } from './tasks.ts';

/** As in COMPUTE_LIMITS. */
type ThreadLimits = Readonly<Record<'maxMs' | 'maxHeapMb' | 'maxGrowthMb' | 'idleMs', number>>;

/**
 * Starts its thread with the first task, and again after each task that had to be ended. A working thread keeps the
 * process alive, an idle one does not.
 */
export class ComputeThread {
  readonly #limits: ThreadLimits;
  readonly #lanes = new Lanes();
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: ThreadLimits = COMPUTE_LIMITS) {
    this.#limits = limits;
  }

  /** Does a task after all earlier ones. Fails as `compute` says. */
  async run<Name extends TaskName>(
    name: Name,
    input: InputOf<Name>,
    signal: AbortSignal,
  ): Promise<OutputOf<Name>> {
    const ask = () => this.#ask({ name, input }, signal);
    return (await this.#lanes.run([THREAD], ask, signal)) as OutputOf<Name>;
  }

  async #ask(question: TaskQuestion, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    try {
      const answer = await answerOf(worker, question, { signal, ...this.#limits });
      this.#idle = setTimeout(() => this.#end(worker), this.#limits.idleMs).unref();
      return outputOf(answer);
    } catch (error) {
      if (!(error instanceof ToolFailure) || error.code === TOO_COMPLEX) this.#end(worker);
      throw error;
    } finally {
      worker.unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL(WORKER, import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.maxHeapMb },
    });
    // Without a listener an error would end the process. The waiting caller gets the error from `answerOf`.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }

  #end(worker: Worker): void {
    if (this.#worker === worker) this.#worker = null;
    void worker.terminate();
  }
}

/** The thread's program, as a source or in the bundle that bin/bundle.mjs makes. */
const WORKER = import.meta.url.endsWith('.ts') ? './worker.ts' : './compute-worker.js';

/** Rejects when the time is up, the signal aborts or the thread dies. The thread cannot be used afterwards. */
async function answerOf(
  worker: Worker,
  question: TaskQuestion,
  { signal, maxMs, maxGrowthMb }: ThreadLimits & { readonly signal: AbortSignal },
): Promise<TaskAnswer> {
  const { promise, resolve, reject } = newDeferred<TaskAnswer>();
  const onError = (error: Error) => reject(isOutOfMemory(error) ? tooLarge(error) : error);
  const onExit = () => reject(new Error('the computing thread ended by itself'));
  const timer = setTimeout(() => reject(tooLong(maxMs)), maxMs);
  const before = process.memoryUsage.rss();
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > maxGrowthMb * MIB) reject(tooLarge());
  }, COMPUTE_LIMITS.growthPollMs);
  worker.on('message', resolve).on('messageerror', reject).on('error', onError).on('exit', onExit);
  using _leaving = addAbortListener(signal, () => reject(signal.reason));
  try {
    worker.postMessage(question);
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    worker.off('message', resolve).off('messageerror', reject);
    worker.off('error', onError).off('exit', onExit);
  }
}

/** The lane of all tasks. */
const THREAD = 'thread';

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** The failure code of a task that needs more time or memory than the thread may take. */
const TOO_COMPLEX = 'TOO_COMPLEX';

function tooLong(maxMs: number): ToolFailure {
  return new ToolFailure(TOO_COMPLEX, `It would take longer than ${maxMs} ms. ${WHAT_TO_DO}`);
}

function tooLarge(cause?: Error): ToolFailure {
  return new ToolFailure(TOO_COMPLEX, `It would take too much memory. ${WHAT_TO_DO}`, { cause });
}

const WHAT_TO_DO =
  'Nothing was changed: do it in smaller parts, on a smaller file, or with a command.';
