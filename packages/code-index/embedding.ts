/** Makes the vectors of an index in the background, and those of questions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { VectorReport } from '../../machine/bridge-status.ts';
import { logEvent } from '../../machine/log.ts';
import type { EmbeddingService } from './embedder.ts';
import { Embedder, EmbeddingFailure } from './embedder.ts';
import { INDEX_LIMITS } from './limits.ts';
import type { Pending, PendingText, QuestionVector } from './messages.ts';
import type { NewVector } from './store.ts';
import type { IndexThread } from './thread.ts';

export interface EmbeddingOptions {
  readonly service: EmbeddingService;
  readonly thread: Pick<IndexThread, 'ask'>;
  /** Whether the rules of this moment let a file go to the model without a question. By its path in the workspace. */
  readonly readSendable: () => Promise<(path: string) => boolean>;
  readonly onReport: () => void;
  /** Gets a failure of the thread. */
  readonly onTrouble: (error: unknown) => void;
}

export interface AskedQuestion {
  readonly text: string;
  readonly isPrivate: boolean;
  /** As in IndexQuestion. */
  readonly waitMs: number;
}

/** No method rejects. One request runs at a time, and beside it those of questions. */
export class Embedding {
  readonly #options: EmbeddingOptions;
  readonly #ending = new AbortController();
  readonly #embedder: Embedder;
  readonly #questions = new Map<string, Promise<Float32Array | undefined>>();
  /** Until then, questions ask for no vector. */
  #questionsFromMs = 0;
  /** Texts that the server does not take. */
  readonly #refused = new Set<string>();
  #refusedInRow = 0;
  #failures = 0;
  #restarts = 0;
  #isForgetting = false;
  #pass: Promise<void> | undefined;
  /** Whether there is something new since the pass began. */
  #isBehind = false;
  /** Texts that the rules held back in the last pass, and its end by the monotonic clock. */
  #heldBack = 0;
  #passedMs = 0;
  /** Chunks without a vector beside which the others rank all the same: those held back, and those beyond the limit. */
  #unmade = 0;
  /** Whether nearly all chunks that may have vectors have them, so that they can rank. */
  #isUsable = false;
  #hasStopped = false;
  #report: VectorReport;

  constructor(options: EmbeddingOptions) {
    this.#options = options;
    this.#embedder = new Embedder(options.service, this.#ending.signal);
    this.#report = { state: 'making', server: this.#embedder.server, done: 0, of: 0 };
  }

  get report(): VectorReport {
    return this.#report;
  }

  /** Makes the vectors of chunks that have none. */
  refresh(): void {
    this.#isBehind = true;
    if (this.#hasStopped || this.#pass) return;
    this.#pass = this.#work().finally(() => {
      this.#pass = undefined;
    });
  }

  /** The same where the rules held texts back, from time to time: they may be open now. */
  refreshHeldBack(): void {
    const passed = performance.now() - this.#passedMs;
    if (this.#heldBack > 0 && passed >= INDEX_LIMITS.heldBackMs) this.refresh();
  }

  /** Begins anew, because the server's vectors have another length than those of the chunks. */
  restart(): void {
    if (this.#isForgetting) return; // Several answers were on their way.
    if (this.#restarts === INDEX_LIMITS.maxRestarts) {
      return this.#stop(new EmbeddingFailure('OTHER_LENGTH'));
    }
    this.#restarts++;
    this.#isUsable = false;
    this.#questions.clear();
    this.#isForgetting = true;
    this.#options.thread
      .ask('forget', null)
      .then(() => this.refresh(), this.#options.onTrouble)
      .finally(() => {
        this.#isForgetting = false;
      });
  }

  /** Undefined while the vectors cannot rank, for a private question to another server, and where the vector is late. */
  async vectorOf({ text, isPrivate, waitMs }: AskedQuestion): Promise<QuestionVector | undefined> {
    const embedder = this.#embedder;
    if (!this.#isUsable || (isPrivate && !embedder.isPrivate)) return undefined;
    const startedMs = performance.now();
    const late = sleep(waitMs, undefined, { ref: false });
    const numbers = await Promise.race([this.#question(text), late]);
    const maxMs = waitMs - (performance.now() - startedMs);
    return numbers && { embedder: embedder.name, numbers, maxMs };
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#pass;
  }

  #question(text: string): Promise<Float32Array | undefined> {
    const known = this.#questions.get(text);
    if (known) return known;
    if (performance.now() < this.#questionsFromMs) return Promise.resolve(undefined);
    const asked = this.#askQuestion(text);
    this.#questions.set(text, asked);
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > INDEX_LIMITS.maxQuestions && oldest !== undefined) {
      this.#questions.delete(oldest);
    }
    return asked;
  }

  async #askQuestion(text: string): Promise<Float32Array | undefined> {
    const { signal } = this.#ending;
    const timeoutMs = INDEX_LIMITS.questionMs;
    try {
      const [vector] = await this.#embedder.embed([text], { timeoutMs, signal });
      return vector;
    } catch (error) {
      this.#questions.delete(text);
      if (signal.aborted) return undefined;
      const restMs = isLasting(error) ? INDEX_LIMITS.maxRetryMs : INDEX_LIMITS.questionRestMs;
      this.#questionsFromMs = performance.now() + restMs;
      logFailure(error);
      return undefined;
    }
  }

  async #work(): Promise<void> {
    const { signal } = this.#ending;
    try {
      while (this.#isBehind && !this.#hasStopped) {
        await sleep(INDEX_LIMITS.embedDelayMs, undefined, { signal, ref: false });
        this.#isBehind = false;
        await this.#embedAll(signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof EmbeddingFailure) this.#stop(error);
      else this.#options.onTrouble(error);
    }
  }

  /** From the first chunk to the last one, as far as the limit reaches. */
  async #embedAll(signal: AbortSignal): Promise<void> {
    const { thread } = this.#options;
    const { name, server } = this.#embedder;
    const most = INDEX_LIMITS.maxVectors;
    let [chunks, done, heldBack] = [0, 0, 0];
    for (let after: number | null = 0; after !== null && done < most; ) {
      const pending: Pending = await thread.ask('pending', { embedder: name, after });
      signal.throwIfAborted();
      after = pending.after;
      if (pending.count) {
        chunks = pending.count.chunks;
        done = chunks - pending.count.without;
        const missing = pending.count.without - this.#unmade;
        this.#isUsable = missing <= chunks * INDEX_LIMITS.maxUnembedded;
      }
      const open = await this.#sendable(pending.texts);
      heldBack += pending.texts.length - open.length;
      const sent = open
        .filter(({ hash }) => !this.#refused.has(hash))
        .slice(0, Math.max(0, most - done));
      if (sent.length === 0) continue;
      this.#set({ state: 'making', server, done, of: Math.min(chunks, most) });
      const vectors = await this.#embedded(sent, signal);
      if (vectors.length > 0 && !(await thread.ask('keep', { embedder: name, vectors }))) {
        return this.restart();
      }
      done += vectors.length;
    }
    const leftOut = done < most ? 0 : chunks - done;
    this.#heldBack = heldBack;
    this.#unmade = done > 0 ? heldBack + leftOut : 0;
    this.#passedMs = performance.now();
    this.#isUsable = done > 0;
    const isClosed = done === 0 && heldBack > 0;
    this.#set(isClosed ? this.#failing(CLOSED) : { state: 'ready', server, leftOut, heldBack });
  }

  async #sendable(texts: readonly PendingText[]): Promise<readonly PendingText[]> {
    const isSendable = texts.length === 0 ? () => false : await this.#options.readSendable();
    return texts.filter(({ path }) => isSendable(path));
  }

  /** Waits as long as the server needs. The vectors of texts that it refuses are missing. */
  async #embedded(texts: readonly PendingText[], signal: AbortSignal): Promise<NewVector[]> {
    for (let open = texts; open.length > 0; open = await this.#stillSendable(open)) {
      try {
        const sent = open.map(({ text }) => text);
        const timeoutMs = INDEX_LIMITS.chunksMs;
        const vectors = await this.#embedder.embed(sent, { timeoutMs, signal });
        this.#failures = 0;
        this.#refusedInRow = 0;
        return vectors.flatMap((numbers, at) => {
          const hash = open[at]?.hash;
          return hash === undefined ? [] : [{ hash, numbers }];
        });
      } catch (error) {
        if (!(error instanceof EmbeddingFailure)) throw error;
        if (error.code === 'TEXT_REFUSED') return await this.#divided(open, error, signal);
        await this.#wait(error, signal);
      }
    }
    return [];
  }

  /** The rules can have changed while the server was away. */
  async #stillSendable(texts: readonly PendingText[]): Promise<readonly PendingText[]> {
    const open = await this.#sendable(texts);
    if (open.length < texts.length) this.#isBehind = true;
    return open;
  }

  /** A server may refuse all texts for one that is too long for it. */
  async #divided(
    texts: readonly PendingText[],
    failure: EmbeddingFailure,
    signal: AbortSignal,
  ): Promise<NewVector[]> {
    const [first] = texts;
    if (texts.length === 1 && first) {
      this.#refused.add(first.hash);
      this.#refusedInRow++;
      if (this.#refusedInRow >= INDEX_LIMITS.maxRefused) throw failure;
      return [];
    }
    const half = Math.ceil(texts.length / 2);
    const vectors = await this.#embedded(texts.slice(0, half), signal);
    return [...vectors, ...(await this.#embedded(texts.slice(half), signal))];
  }

  async #wait(failure: EmbeddingFailure, signal: AbortSignal): Promise<void> {
    const { retryMs, maxRetryMs, shownFailures } = INDEX_LIMITS;
    const leastMs = isLasting(failure) ? maxRetryMs : retryMs * 2 ** this.#failures;
    const ms = Math.min(Math.max(failure.waitMs ?? 0, leastMs), maxRetryMs);
    this.#failures++;
    if (isLasting(failure) || this.#failures === shownFailures) {
      logFailure(failure);
      this.#set(this.#failing(`${failure.message}; it is tried again`));
    }
    await sleep(ms, undefined, { signal, ref: false });
  }

  /** Until the bridge starts again. */
  #stop(failure: EmbeddingFailure): void {
    this.#hasStopped = true;
    this.#isUsable = false;
    logFailure(failure);
    this.#set(this.#failing(`${failure.message}; restart the bridge once it is repaired`));
  }

  #failing(reason: string): VectorReport {
    return { state: 'failing', server: this.#embedder.server, reason };
  }

  #set(report: VectorReport): void {
    const { state } = this.#report;
    this.#report = report;
    if (report.state === 'ready' && state !== 'ready') logEvent({ event: 'vectors_ready' }, null);
    this.#options.onReport();
  }
}

/** A person must repair it first: attempts are rare until then. */
function isLasting(error: unknown): boolean {
  return error instanceof EmbeddingFailure && LASTING.has(error.code);
}

const LASTING: ReadonlySet<string> = new Set(['KEY_REFUSED', 'KEY_UNREADABLE', 'NOT_FOUND']);

/** Why there are no vectors where the rules hold all texts back. */
const CLOSED = 'it may not have any of the files';

/** Without the cause, which could quote the texts or the key. */
function logFailure(error: unknown): void {
  const isKnown = error instanceof EmbeddingFailure;
  const [code, why] = isKnown ? [error.code, error.message] : ['UNKNOWN', 'unknown'];
  logEvent({ event: 'vectors_failed', code, message: `The index gets no vectors: ${why}.` });
}
