/** A thread for computations that would hold the bridge up. */
import { Worker } from 'node:worker_threads';
import { MIB } from '../../shared/units.ts';
import { COMPUTE_LIMITS } from './limits.ts';
import { TaskRunner, type WorkPlace } from './task-runner.ts';
import { tooLarge } from './too-complex.ts';

/** As in COMPUTE_LIMITS. */
type ThreadLimits = Readonly<Record<'maxMs' | 'maxHeapMb' | 'maxGrowthMb' | 'idleMs', number>>;

export class ComputeThread extends TaskRunner {
  constructor(limits: ThreadLimits = COMPUTE_LIMITS) {
    const { maxMs, idleMs } = limits;
    const { growthPollMs: pollMs } = COMPUTE_LIMITS;
    super(async () => startThread(limits), { maxMs, idleMs, pollMs });
  }
}

function startThread({ maxHeapMb, maxGrowthMb }: ThreadLimits): WorkPlace {
  const worker = new Worker(new URL(WORKER, import.meta.url), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  let hasEnded = false;
  // Without a listener an error would end the process. The asker gets it.
  worker.on('error', () => {});
  worker.once('exit', () => {
    hasEnded = true;
  });
  let before = 0;
  return {
    ask: (question, { take, fail }) => {
      const onError = (error: Error) => fail(isOutOfMemory(error) ? tooLarge(error) : error);
      const onExit = () => fail(new Error('the computing thread ended by itself'));
      worker.on('message', take).on('messageerror', fail).on('error', onError).on('exit', onExit);
      before = process.memoryUsage.rss();
      worker.postMessage(question);
      return {
        [Symbol.dispose]: () => {
          worker.off('message', take).off('messageerror', fail);
          worker.off('error', onError).off('exit', onExit);
        },
      };
    },
    isTooLarge: () => process.memoryUsage.rss() - before > maxGrowthMb * MIB,
    keepAlive: (isKept) => (isKept ? worker.ref() : worker.unref()),
    hasEnded: () => hasEnded,
    end: () => void worker.terminate(),
  };
}

/**
 * The program of threads and processes, as a source or in the bundle that bin/bundle.mjs makes. The bridge puts it
 * together, because it knows all tasks: the one way up of this folder, by a path alone.
 */
export const WORKER = import.meta.url.endsWith('.ts')
  ? '../../bridge/compute/worker.ts'
  : './compute-worker.js';

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
