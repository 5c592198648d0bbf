/** The index's thread as the bridge sees it: bounded in memory, started when it is needed, ended when it is idle. */
import { Worker } from 'node:worker_threads';
import { type Deferred, newDeferred } from '../../machine/deferred.ts';
import { INDEX_LIMITS } from './limits.ts';
import type { IndexNews, IndexOrder, IndexTask, IndexWork } from './messages.ts';

interface RunningThread {
  readonly worker: Worker;
  readonly open: Map<
    number,
    { readonly deferred: Deferred<unknown>; readonly onProgress: OnProgress }
  >;
  /** Rejects where the index cannot be opened. */
  ready: Promise<unknown>;
}

type OnProgress = (done: number, of: number) => void;

export class IndexThread {
  readonly #place: { readonly path: string; readonly root: string };
  #running: RunningThread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  /** A thread that died may have died of the parser. */
  #parses = true;

  constructor(place: { readonly path: string; readonly root: string }) {
    this.#place = place;
  }

  /** Rejects for any failure of the thread or its database. The next task starts afresh then. */
  async ask<Task extends IndexTask>(
    task: Task,
    ask: IndexWork[Task]['ask'],
    onProgress: OnProgress = () => {},
  ): Promise<IndexWork[Task]['answer']> {
    clearTimeout(this.#idle);
    const running = this.#running ?? this.#start();
    try {
      await running.ready;
      return (await send(running, ++this.#lastId, { task, ask }, onProgress)) as never;
    } catch (error) {
      this.#drop(running);
      throw error;
    } finally {
      if (running.open.size === 0) this.#rest(running);
    }
  }

  async end(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#running?.worker.terminate();
  }

  #start(): RunningThread {
    const worker = new Worker(new URL(WORKER, import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: INDEX_LIMITS.maxHeapMb },
    });
    worker.unref(); // A search or an update never keeps the bridge alive.
    const running: RunningThread = { worker, open: new Map(), ready: Promise.resolve() };
    const fail = (error: Error) => {
      for (const { deferred } of running.open.values()) deferred.reject(error);
      running.open.clear();
    };
    worker.on('message', (news: IndexNews) => receive(running, news));
    worker.on('error', (error) => {
      this.#parses = false;
      fail(error);
    });
    worker.once('exit', () => {
      this.#drop(running);
      fail(new Error('the thread of the index ended'));
    });
    this.#running = running;
    const ask = { ...this.#place, parses: this.#parses };
    running.ready = send(running, ++this.#lastId, { task: 'open', ask }, () => {});
    running.ready.catch(() => {}); // Each task fails with it.
    return running;
  }

  #drop(running: RunningThread): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    void running.worker.terminate();
  }

  #rest(running: RunningThread): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#drop(running), INDEX_LIMITS.idleMs).unref();
  }
}

async function send(
  { worker, open }: RunningThread,
  id: number,
  order: Pick<IndexOrder, 'task' | 'ask'>,
  onProgress: OnProgress,
): Promise<unknown> {
  const deferred = newDeferred<unknown>();
  open.set(id, { deferred, onProgress });
  worker.postMessage({ id, ...order } satisfies IndexOrder);
  return await deferred.promise;
}

function receive({ open }: RunningThread, news: IndexNews): void {
  const waiting = open.get(news.id);
  if (news.state === 'progress') return waiting?.onProgress(news.done, news.of);
  open.delete(news.id);
  if (news.state === 'done') waiting?.deferred.resolve(news.answer);
  else waiting?.deferred.reject(new Error(news.message));
}

/** The thread's program, as a source or in the bundle that bin/bundle.mjs makes. */
const WORKER = import.meta.url.endsWith('.ts') ? './worker.ts' : './index-worker.js';
