/** Makes the vectors of an index in the background, and those of questions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { VectorReport } from '../../machine/bridge-status.ts';
import { logEvent } from '../log.ts';
import { type Embedder, EmbeddingFailure } from './embedder.ts';
import { INDEX_LIMITS } from './limits.ts';
import type { Pending, PendingText, QuestionVector } from './messages.ts';
import type { NewVector } from './store.ts';
import type { IndexThread } from './thread.ts';

export interface EmbeddingOptions {
  readonly embedder: Embedder;
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
  readonly #questions = new Map<string, Promise<Float32Array | undefined>>();
  /** Until then, questions ask for no vector. */
  #questionsFromMs = 0;
  /** Texts that the server does not take. */
  readonly #refused = new Set<string>();
  #refusedInRow = 0;
  #failures = 0;
  #restarts = 0;
  #pass: Promise<void> | undefined;
  /** Whether there is something new since the pass began. */
  #isBehind = false;
  /** Whether nearly all chunks have vectors, so that they can rank. */
  #isUsable = false;
  #hasStopped = false;
  #report: VectorReport;

  constructor(options: EmbeddingOptions) {
    this.#options = options;
    this.#report = { state: 'making', server: options.embedder.server, done: 0, of: 0 };
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

  /** Begins anew, because the server's vectors have another length than those of the chunks. */
  restart(): void {
    if (this.#restarts === INDEX_LIMITS.maxRestarts) {
      return this.#stop(new EmbeddingFailure('OTHER_LENGTH'));
    }
    this.#restarts++;
    this.#isUsable = false;
    this.#questions.clear();
    this.#options.thread.ask('forget', null).then(() => this.refresh(), this.#options.onTrouble);
  }

  /** Undefined while the vectors cannot rank, for a private question to another server, and where the vector is late. */
  async vectorOf({ text, isPrivate, waitMs }: AskedQuestion): Promise<QuestionVector | undefined> {
    const { embedder } = this.#options;
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
      const [vector] = await this.#options.embedder.embed([text], { timeoutMs, signal });
      return vector;
    } catch (error) {
      this.#questions.delete(text);
      if (signal.aborted) return undefined;
      this.#questionsFromMs = performance.now() + INDEX_LIMITS.questionRestMs;
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
    const { thread, embedder } = this.#options;
    const { name, server } = embedder;
    const most = INDEX_LIMITS.maxVectors;
    let chunks = 0;
    let done = 0;
    for (let after: number | null = 0; after !== null && done < most; ) {
      const pending: Pending = await thread.ask('pending', { embedder: name, after });
      signal.throwIfAborted();
      after = pending.after;
      if (pending.count) {
        chunks = pending.count.chunks;
        done = chunks - pending.count.without;
        if (pending.count.without <= chunks * INDEX_LIMITS.maxUnembedded) this.#isUsable = true;
      }
      const sent = (await this.#sendable(pending.texts)).slice(0, Math.max(0, most - done));
      if (sent.length === 0) continue;
      this.#set({ state: 'making', server, done, of: Math.min(chunks, most) });
      const vectors = await this.#embedded(sent, signal);
      if (vectors.length > 0 && !(await thread.ask('keep', { embedder: name, vectors }))) {
        return this.restart();
      }
      done += vectors.length;
    }
    this.#isUsable = true;
    this.#set({ state: 'ready', server, leftOut: done < most ? 0 : chunks - done });
  }

  async #sendable(texts: readonly PendingText[]): Promise<readonly PendingText[]> {
    const isSendable = texts.length === 0 ? () => false : await this.#options.readSendable();
    return texts.filter(({ path, hash }) => !this.#refused.has(hash) && isSendable(path));
  }

  /** Waits as long as the server needs. The vectors of texts that it refuses are missing. */
  async #embedded(texts: readonly PendingText[], signal: AbortSignal): Promise<NewVector[]> {
    for (;;) {
      try {
        const sent = texts.map(({ text }) => text);
        const timeoutMs = INDEX_LIMITS.chunksMs;
        const vectors = await this.#options.embedder.embed(sent, { timeoutMs, signal });
        this.#failures = 0;
        this.#refusedInRow = 0;
        return vectors.flatMap((numbers, at) => {
          const hash = texts[at]?.hash;
          return hash === undefined ? [] : [{ hash, numbers }];
        });
      } catch (error) {
        if (!(error instanceof EmbeddingFailure)) throw error;
        if (error.code === 'TEXT_REFUSED') return await this.#divided(texts, error, signal);
        if (LASTING.has(error.code)) throw error;
        await this.#wait(error, signal);
      }
    }
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
    const ms = waitBefore(failure, this.#failures);
    this.#failures++;
    if (this.#failures === INDEX_LIMITS.shownFailures) {
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
    this.#set(this.#failing(failure.message));
  }

  #failing(reason: string): VectorReport {
    return { state: 'failing', server: this.#options.embedder.server, reason };
  }

  #set(report: VectorReport): void {
    const { state } = this.#report;
    this.#report = report;
    if (report.state === 'ready' && state !== 'ready') logEvent({ event: 'vectors_ready' }, null);
    this.#options.onReport();
  }
}

/** Milliseconds until the next attempt, after so many failures before this one. */
export function waitBefore(
  { waitMs = 0 }: Pick<EmbeddingFailure, 'waitMs'>,
  before: number,
): number {
  const { retryMs, maxRetryMs } = INDEX_LIMITS;
  return Math.min(Math.max(waitMs, retryMs * 2 ** before), maxRetryMs);
}

/** Another attempt would fail too. */
const LASTING: ReadonlySet<string> = new Set(['KEY_REFUSED', 'KEY_UNREADABLE', 'NOT_FOUND']);

/** Without the cause, which could quote the texts or the key. */
function logFailure(error: unknown): void {
  const isKnown = error instanceof EmbeddingFailure;
  const [code, why] = isKnown ? [error.code, error.message] : ['UNKNOWN', 'unknown'];
  logEvent({ event: 'vectors_failed', code, message: `The index gets no vectors: ${why}.` });
}
