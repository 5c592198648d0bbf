/** The index of one workspace: begins in the background, follows the files, and finds chunks for a question. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IndexReport } from '../../machine/bridge-status.ts';
import { filterInTurns } from '../../machine/compute/turns.ts';
import { logEvent, logTrouble } from '../../machine/log.ts';
import { loadSqlite, NO_SQLITE } from '../../machine/sqlite.ts';
import type { Workspace } from '../workspace/index.ts';
import type { EmbeddingService } from './embedder.ts';
import { Embedding } from './embedding.ts';
import { INDEX_LIMITS } from './limits.ts';
import type { Hit, RankedChunk, UpdateReport } from './messages.ts';
import { listFiles } from './search/file-list.ts';
import type { FoundChunks, IndexQuestion, SearchIndex } from './search/search-index.ts';
import { IndexThread } from './thread.ts';

export interface CodeIndexOptions {
  readonly workspace: Workspace;
  /** The file of the database, outside every workspace. */
  readonly path: string;
  /** The server that makes vectors, and the rules of a moment: which files may go there, by their paths in the workspace. */
  readonly embedding?: CodeEmbedding | undefined;
  /** Gets each new state. */
  readonly onReport?: (report: IndexReport) => void;
  readonly signal: AbortSignal;
}

export interface CodeEmbedding {
  readonly service: EmbeddingService;
  readonly readSendable: () => Promise<(path: string) => boolean>;
}

/** No method rejects. Without an index, and while it is made, `find` finds nothing out: the caller searches the files. */
export class CodeIndex implements SearchIndex {
  readonly #options: CodeIndexOptions;
  readonly #thread: IndexThread;
  readonly #embedding: Embedding | undefined;
  #report: IndexReport = { state: 'building', files: 0, of: 0 };
  #isStarted = false;
  #isEnded = false;
  /** The look that is to begin. */
  #soon: NodeJS.Timeout | undefined;
  #failures = 0;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #lookedMs = 0;

  constructor(options: CodeIndexOptions) {
    this.#options = options;
    const { workspace, path } = options;
    this.#thread = new IndexThread({ path, root: workspace.root });
    this.#embedding = options.embedding && this.#newEmbedding(options.embedding);
  }

  get report(): IndexReport {
    const vectors = this.#embedding?.report;
    return this.#report.state === 'ready' && vectors ? { ...this.#report, vectors } : this.#report;
  }

  /** Begins after a while, once. */
  start(delayMs = 0): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    if (!loadSqlite()) return this.#set({ state: 'off', reason: NO_SQLITE });
    this.#soon = setTimeout(() => void this.#look(), delayMs).unref();
  }

  /** Undefined while there is no index of all files, for another folder than its own, and after a failure. */
  async find({
    workspace,
    question,
    places,
    limit,
    needsWords,
    ...meaning
  }: IndexQuestion): Promise<FoundChunks | undefined> {
    if (this.#report.state !== 'ready' || workspace.root !== this.#options.workspace.root)
      return undefined;
    const asked = this.#embedding?.vectorOf({ text: question, ...meaning });
    await this.#freshen(this.#report.files);
    const vector = await asked;
    if (this.#report.state !== 'ready') return undefined;
    const { leftOut } = this.#report;
    const asking = { question, places, vector, needsWords };
    const ask = async (most: number) =>
      this.#shown(workspace, await this.#thread.ask('rank', { ...asking, limit: most }));
    try {
      const late = sleep(INDEX_LIMITS.searchMs, undefined, { ref: false });
      const first = await Promise.race([ask(limit), late]);
      if (!first) return undefined;
      const isHidden = first.hidden > 0 && first.chunks.length < limit;
      const { chunks, byMeaning } = isHidden ? await ask(INDEX_LIMITS.maxMoreHits) : first;
      return { chunks: chunks.slice(0, limit), isWhole: leftOut === 0, byMeaning };
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#soon);
    await this.#embedding?.end();
    await this.#thread.end();
  }

  #newEmbedding({ service, readSendable }: CodeEmbedding): Embedding {
    return new Embedding({
      service,
      thread: this.#thread,
      readSendable,
      onReport: () => {
        if (this.#report.state === 'ready') this.#set(this.#report);
      },
      onTrouble: (error) => this.#fail(error),
    });
  }

  /** Without the chunks that the question's own view of the workspace does not have. */
  #shown(workspace: Workspace, { hits, vector }: RankedChunk) {
    if (vector === 'other') this.#embedding?.restart();
    const path = (hit: Hit) => join(workspace.root, hit.path);
    const chunks = hits.filter(
      (hit) => workspace.mayFind(path(hit)) && !workspace.isUnindexed(path(hit)),
    );
    const byMeaning = vector === 'used';
    return { chunks, hidden: hits.length - chunks.length, byMeaning };
  }

  /** In a large workspace the search does not wait: the thread compares the files of its answer in any case. */
  async #freshen(files: number): Promise<void> {
    if (files <= INDEX_LIMITS.maxFreshFiles) {
      const late = sleep(INDEX_LIMITS.freshMs, undefined, { ref: false });
      await Promise.race([this.#look(), late]);
    } else if (performance.now() - this.#lookedMs > INDEX_LIMITS.restMs && !this.#current) {
      void this.#look();
    }
  }

  /** A look that begins after the call. One runs at a time, and all callers meanwhile share the next. */
  #look(): Promise<void> {
    if (!this.#current) return this.#begin();
    this.#next ??= this.#current.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    const look = this.#update().finally(() => {
      if (this.#current === look) this.#current = undefined;
    });
    this.#current = look;
    return look;
  }

  async #update(): Promise<void> {
    const startedMs = performance.now();
    try {
      const names = await this.#names();
      const onProgress = (files: number, of: number) => {
        if (this.#report.state === 'building') this.#set({ state: 'building', files, of });
      };
      const update = await this.#thread.ask('update', { names: names.join('\0') }, onProgress);
      this.#updated(update, performance.now() - startedMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #updated({ files, leftOut, hasChanged }: UpdateReport, tookMs: number): void {
    this.#lookedMs = performance.now();
    const before = this.#report;
    if (before.state === 'off') return;
    if (before.state === 'building') {
      logEvent({ event: 'index_ready', durationMs: Math.round(tookMs) }, null);
    }
    const isSame = before.state === 'ready' && before.files === files && before.leftOut === leftOut;
    if (!isSame) this.#set({ state: 'ready', files, leftOut });
    if (hasChanged || before.state === 'building') this.#embedding?.refresh();
    else this.#embedding?.refreshHeldBack();
  }

  /** All files that a search may show, but for those that the rules of this machine close: each answer asks for them. */
  async #names(): Promise<string[]> {
    const { workspace, signal } = this.#options;
    const names = await listFiles({ folder: workspace.root, hidden: true, signal });
    return await filterInTurns(names, (name) => {
      const path = join(workspace.root, name);
      return workspace.mayFind(path) && !workspace.isUnindexed(path);
    });
  }

  /** The next search begins again, until it has failed too often. */
  #fail(error: unknown): void {
    const { signal } = this.#options;
    if (this.#isEnded || signal.aborted || this.#report.state === 'off') return;
    logTrouble({ event: 'index_failed' }, 'The index of the workspace failed', error);
    this.#failures++;
    if (this.#failures >= INDEX_LIMITS.maxFailures) {
      return this.#set({ state: 'off', reason: FAILED });
    }
    this.#set({ state: 'building', files: 0, of: 0 });
    this.#soon = setTimeout(() => void this.#look(), INDEX_LIMITS.restMs).unref();
  }

  #set(report: IndexReport): void {
    this.#report = report;
    this.#options.onReport?.(this.report);
  }
}

const FAILED = 'it failed several times: see the log';
