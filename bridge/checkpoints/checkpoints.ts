/** Keeps what calls change, so that it can be taken back. A store that fails never fails a call. */
import { randomUUID } from 'node:crypto';
import { join, relative } from 'node:path';
import { fromText, shownName } from '../../machine/byte-path.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import { currentCall, logTrouble } from '../../machine/log.ts';
import { makePrivateFolder } from '../../machine/private-files.ts';
import type { KeepChange, KeptFile, Workspace } from '../../packages/workspace/index.ts';
import { BlobStore } from './blobs.ts';
import { markOf, tracesFor } from './foreign.ts';
import {
  CheckpointHistory,
  type FileState,
  type GoneFile,
  type HistoryEntry,
  type PathChange,
  targetOf,
  UNREAD,
} from './history.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';
import { FolderWatch, type SeenChange, type SeenFile } from './watch.ts';

/** The call that changes files, and where. */
export interface Changer {
  /** Absolute and real. */
  readonly root: string;
  readonly conversationId: string;
  readonly callId: string;
  /** Default: the run of the current call. */
  readonly run?: string | undefined;
}

/** The store and the history of one bridge. */
export class Checkpoints {
  readonly contents: BlobStore;
  readonly history: CheckpointHistory;
  /** How many calls that may change files run, and the undo that runs, by the folder. */
  readonly #calls = new Map<string, number>();
  readonly #undos = new Map<string, Promise<unknown>>();
  readonly #watches = new Map<string, FolderWatch>();
  /** The running commands of each folder, the one that began last at the end. */
  readonly #commands = new Map<string, Changer[]>();
  readonly #ended = new AbortController();
  #hasFailed = false;

  /** Undefined where the state folder cannot be used; the log says why. */
  static open(stateDir: string): Checkpoints | undefined {
    try {
      const folder = join(stateDir, 'checkpoints');
      makePrivateFolder(folder);
      const history = new CheckpointHistory(join(folder, 'history.jsonl'));
      const promised = new Map<string, number>();
      for (const { atMs, changes } of history.all)
        for (const { before, isPromised } of changes)
          if (before && isPromised) promised.set(before.hash, atMs + CHECKPOINT_LIMITS.maxAgeMs);
      return new Checkpoints(new BlobStore(join(folder, 'contents'), promised), history);
    } catch (error) {
      logTrouble({ event: 'checkpoints_failed' }, 'Changes cannot be undone', error);
      return undefined;
    }
  }

  private constructor(contents: BlobStore, history: CheckpointHistory) {
    this.contents = contents;
    this.history = history;
  }

  /** Does the work of a call that may change files. It begins after an undo that runs. */
  async during<Value>(root: string, work: () => Promise<Value>): Promise<Value> {
    while (this.#undos.has(root)) await this.#undos.get(root);
    this.#calls.set(root, (this.#calls.get(root) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#calls.set(root, (this.#calls.get(root) ?? 1) - 1);
    }
  }

  /** Does an undo, alone in its folder. Throws a ToolFailure (`UNDO_BUSY`). */
  async alone<Value>(root: string, work: () => Promise<Value>): Promise<Value> {
    if (this.#undos.has(root)) throw busy('Another undo is running');
    if (this.#calls.get(root)) throw busy('A call that can change files is running');
    const running = work();
    this.#undos.set(
      root,
      running.catch(() => undefined),
    );
    try {
      return await running;
    } finally {
      this.#undos.delete(root);
    }
  }

  /** Begins to know the files of a folder, so that what commands change there can be undone. Returns at once. */
  watch(workspace: Workspace): void {
    const { root } = workspace;
    const known = this.#watches.get(root);
    if (known) {
      // The one used last goes last: what a call was allowed by must be there when it begins.
      this.#watches.delete(root);
      this.#watches.set(root, known);
      return;
    }
    const watch = new FolderWatch({
      root,
      contents: this.contents,
      mayKeep: (path) => workspace.mayShow(path),
      signal: this.#ended.signal,
    });
    this.#watches.set(root, watch);
    const [oldest] = this.#watches.keys();
    const isMany = this.#watches.size > CHECKPOINT_LIMITS.maxFolders;
    if (isMany && oldest !== undefined && !this.#commands.get(oldest)?.length)
      this.#watches.delete(oldest);
    void this.#look(watch, 0);
  }

  /**
   * Does the work of a command, and keeps what changes in the folder meanwhile. Time alone decides: what the person
   * changes meanwhile counts as the command's, too. `lost` names the changed files that cannot be restored.
   */
  async command<Value>(
    changer: Changer,
    work: () => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly lost: readonly string[]; readonly isCut: boolean }> {
    const { root } = changer;
    const own = { ...changer, run: currentCall().run };
    const watch = this.#watches.get(root);
    const running = this.#commands.get(root) ?? [];
    this.#commands.set(root, running);
    const { maxReadBefore, maxReadAfter } = CHECKPOINT_LIMITS;
    const before = await this.#look(watch, maxReadBefore, {
      readsRest: true,
      maker: running.at(-1)?.run,
    });
    const other = running.at(-1);
    if (other) this.#keepSeen(other, before, watch?.takeGone());
    running.push(own);
    const end = async () => {
      const changes = await this.#look(watch, maxReadAfter, { maker: own.run });
      running.splice(running.indexOf(own), 1);
      return this.#keepSeen(own, changes, watch?.takeGone());
    };
    try {
      const value = await work();
      return { value, lost: await end(), isCut: watch?.isCut ?? false };
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Ends the work in the background. */
  end(): void {
    this.#ended.abort();
  }

  /**
   * Whether an undo can bring back all that a command deletes at this absolute path in the folder. That lasts: the
   * contents are kept before all others from now on, and the history keeps the change. False where that would leave no
   * room for others. The files are looked at once more before the command.
   */
  canRestore(root: string, path: string): boolean {
    if (!path.startsWith(`${root}/`)) return false;
    const hashes = this.#watches.get(root)?.contentsAt(fromText(path));
    return hashes !== undefined && this.#promise(hashes);
  }

  /** Whether the content is stored, and stays, so that what replaces it can be undone. */
  canKeep(bytes: Uint8Array | null): boolean {
    if (bytes === null) return false;
    const hash = sha256(bytes);
    return this.contents.put(hash, bytes) && this.#promise([hash]);
  }

  #promise(hashes: readonly string[]): boolean {
    if (this.history.promised + hashes.length > CHECKPOINT_LIMITS.maxPromised) return false;
    return this.contents.promise(hashes, Date.now() + CHECKPOINT_LIMITS.promisedMs);
  }

  /** Keeps the changes of a call. */
  keeper(changer: Changer): KeepChange {
    return (changes) => {
      const kept = changes.map(({ path, before, after }) => ({
        path: fromText(relative(changer.root, path)),
        before: this.#stateOf(before),
        after: this.#stateOf(after),
      }));
      const settle = this.keep(changer, this.#withOrigins(changer.root, kept));
      return (isMade) => {
        settle?.(isMade);
        if (isMade) for (const { path, after } of kept) this.saw(changer, path, after);
      };
    };
  }

  /** A file tool, or an undo, has just changed the path. */
  saw({ root, run = currentCall().run }: Changer, path: string, after: FileState | null): void {
    this.#watches.get(root)?.saw(path, after, run);
  }

  /** What went from where no look reads since the last command. Takes a look, unless a command runs. */
  async goneNow(root: string): Promise<readonly GoneFile[]> {
    const watch = this.#watches.get(root);
    const isRunning = (this.#commands.get(root)?.length ?? 0) > 0;
    if (!isRunning) await this.#look(watch, CHECKPOINT_LIMITS.maxReadBefore, { readsRest: true });
    return watch?.gone ?? [];
  }

  /** Names for each new content another path that had it before and still has it, as far as that is known. */
  #withOrigins(root: string, changes: readonly PathChange[]): readonly PathChange[] {
    const wanted = new Set(changes.flatMap(({ after }) => (after?.hash ? [after.hash] : [])));
    const replaced = changes.filter(({ before, after }) => before?.hash !== after?.hash);
    for (const { before } of replaced) wanted.delete(before?.hash ?? UNREAD);
    const paths = new Set(replaced.map(({ path }) => path));
    const origins = this.#watches.get(root)?.pathsOf(wanted, paths);
    return changes.map((change) => {
      const from = origins?.get(change.after?.hash ?? UNREAD);
      return from === undefined ? change : { ...change, from };
    });
  }

  /** Notes changes whose contents are stored. Returns what settles them; undefined where they cannot be noted. */
  keep(
    { root, conversationId, callId, run = currentCall().run }: Changer,
    changes: readonly PathChange[],
    more: Pick<HistoryEntry, 'undoes' | 'gone'> = {},
  ): ((isMade: boolean) => void) | undefined {
    const isPromised = ({ before, after }: PathChange) =>
      before !== null && before.hash !== after?.hash && this.contents.isPromised(before.hash);
    const noted = changes.map((change) =>
      isPromised(change) ? { ...change, isPromised: true as const } : change,
    );
    const entry: HistoryEntry = {
      type: 'entry',
      id: randomUUID(),
      atMs: Date.now(),
      conversation: conversationId,
      ...(run !== undefined && { response: run }),
      call: callId,
      root,
      changes: noted,
      ...more,
    };
    try {
      this.history.begin(entry);
      const kept = noted.flatMap((change) =>
        isPromised(change) ? (change.before?.hash ?? []) : [],
      );
      this.contents.promise(kept, entry.atMs + CHECKPOINT_LIMITS.maxAgeMs);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) logTrouble(FAILED, 'A change cannot be undone', error);
      this.#hasFailed = true;
      return undefined;
    }
    return (isMade) => this.history.settle(entry.id, isMade);
  }

  /** A look that fails finds nothing, and the next one finds more. */
  async #look(
    watch: FolderWatch | undefined,
    ...wanted: Parameters<FolderWatch['look']>
  ): Promise<readonly SeenChange[]> {
    try {
      return (await watch?.look(...wanted)) ?? [];
    } catch (error) {
      logTrouble(FAILED, 'Changes of commands cannot be undone', error);
      return [];
    }
  }

  /** Returns the names of the files that cannot be restored. */
  #keepSeen(
    changer: Changer,
    changes: readonly SeenChange[],
    gone: readonly GoneFile[] = [],
  ): readonly string[] {
    if (changes.length === 0 && gone.length === 0) return [];
    const stateOf = (file: SeenFile | null) =>
      file && { hash: file.hash ?? UNREAD, mode: file.mode };
    // What was there before comes first: it is all that may be lost.
    const weightOf = ({ before }: SeenChange) =>
      before === null ? 0 : this.contents.isPromised(before.hash ?? UNREAD) ? 2 : 1;
    const ordered = [...changes].sort((a, b) => weightOf(b) - weightOf(a));
    const promised = ordered.filter((change) => weightOf(change) === 2).length;
    const most = Math.max(CHECKPOINT_LIMITS.maxReadAfter, promised);
    const kept = ordered.slice(0, most).map(({ path, before, after, isForeign }) => {
      if (before?.hash) this.contents.use(before.hash);
      const change = { path, before: stateOf(before), after: stateOf(after) };
      return isForeign ? { ...change, isForeign } : change;
    });
    const withOrigins = this.#withOrigins(changer.root, kept);
    const own = { atMs: Date.now(), response: changer.run, changes: [...withOrigins] };
    const traces = tracesFor(own, gone);
    const contentOf = (hash: string) => this.contents.get(hash);
    const marked = withOrigins.map(
      (change): PathChange => ({ ...change, ...(traces && markOf(change, traces, contentOf)) }),
    );
    // What went is all known now, and in part later: a copy of this command is marked for good.
    const noted = { gone: gone.slice(0, CHECKPOINT_LIMITS.maxGone) };
    const settle = this.keep(changer, marked, noted);
    settle?.(true);
    const isLost = ({ before, after }: SeenChange, at: number) =>
      settle === undefined ||
      at >= kept.length ||
      after?.hash === null ||
      (before === null && marked[at]?.isForeign) ||
      (before !== null && (before.hash === null || !this.#has(before.hash)));
    return ordered.filter(isLost).map(({ path }) => shownName(path));
  }

  #has(hash: string): boolean {
    return targetOf({ hash }) !== undefined || this.contents.has(hash);
  }

  /** A content that was not read has no hash: no file is ever equal to it. */
  #stateOf(file: KeptFile | null): FileState | null {
    if (file === null) return null;
    const { bytes, mode } = file;
    if (bytes === null) return { hash: UNREAD, mode };
    const hash = sha256(bytes);
    this.contents.put(hash, bytes);
    return { hash, mode };
  }
}

function busy(why: string): ToolFailure {
  return new ToolFailure(
    'UNDO_BUSY',
    `${why}, so nothing was undone: wait for its end, then repeat the undo.`,
  );
}

const FAILED = { event: 'checkpoints_failed' } as const;
