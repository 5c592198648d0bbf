/** Keeps what calls change, so that it can be taken back. A store that fails never fails a call. */
import { randomUUID } from 'node:crypto';
import { join, relative } from 'node:path';
import { sha256 } from '../../machine/hash.ts';
import { makePrivateFolder } from '../../machine/private-files.ts';
import { ToolFailure } from '../failure.ts';
import { currentCall, logTrouble } from '../log.ts';
import { fromText, shownName } from '../sandbox/byte-path.ts';
import type { KeepChange, KeptFile } from '../workspace/changes.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { BlobStore } from './blobs.ts';
import {
  CheckpointHistory,
  type FileState,
  type HistoryEntry,
  type PathChange,
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
      const contents = new BlobStore(join(folder, 'contents'));
      return new Checkpoints(contents, new CheckpointHistory(join(folder, 'history.jsonl')));
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
    if (this.#watches.has(root)) return;
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
    const before = await this.#look(watch, CHECKPOINT_LIMITS.maxReadBefore, true);
    const other = running.at(-1);
    if (other) this.#keepSeen(other, before);
    running.push(own);
    const end = async () => {
      const changes = await this.#look(watch, CHECKPOINT_LIMITS.maxReadAfter);
      running.splice(running.indexOf(own), 1);
      return this.#keepSeen(own, changes);
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
   * Whether an undo could bring back all that a command deletes at this absolute path in the folder. Its files are
   * looked at once more before the command.
   */
  canRestore(root: string, path: string): boolean {
    if (!path.startsWith(`${root}/`)) return false;
    return this.#watches.get(root)?.keeps(fromText(path)) === true;
  }

  /** Whether the content can be stored, so that what replaces it can be undone. */
  canKeep(bytes: Uint8Array | null): boolean {
    return bytes !== null && this.contents.put(sha256(bytes), bytes);
  }

  /** Keeps the changes of a call. With `undoes`, of an undo that takes these changes back. */
  keeper(changer: Changer, undoes?: HistoryEntry['undoes']): KeepChange {
    return (changes) => {
      const kept = changes.map(({ path, before, after }) => ({
        path: fromText(relative(changer.root, path)),
        before: this.#stateOf(before),
        after: this.#stateOf(after),
      }));
      const isWhole = kept.length > 1 ? ({ isWhole: true } as const) : {};
      const settle = this.keep(changer, kept, { ...isWhole, ...(undoes && { undoes }) });
      return (isMade) => {
        settle(isMade);
        const watch = this.#watches.get(changer.root);
        if (isMade) for (const { path, after } of kept) watch?.saw(path, after);
      };
    };
  }

  /** Notes changes whose contents are stored. Returns what settles them, and says whether they are noted. */
  keep(
    { root, conversationId, callId, run = currentCall().run }: Changer,
    changes: readonly PathChange[],
    more: Pick<HistoryEntry, 'isWhole' | 'undoes'> = {},
  ): (isMade: boolean) => boolean {
    const entry: HistoryEntry = {
      type: 'entry',
      id: randomUUID(),
      atMs: Date.now(),
      conversation: conversationId,
      ...(run !== undefined && { response: run }),
      call: callId,
      root,
      changes: [...changes],
      ...more,
    };
    try {
      this.history.begin(entry);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) logTrouble(FAILED, 'A change cannot be undone', error);
      this.#hasFailed = true;
      return () => false;
    }
    return (isMade) => {
      this.history.settle(entry.id, isMade);
      return true;
    };
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
  #keepSeen(changer: Changer, changes: readonly SeenChange[]): readonly string[] {
    if (changes.length === 0) return [];
    const stateOf = (file: SeenFile | null) =>
      file && { hash: file.hash ?? UNREAD, mode: file.mode };
    const kept = changes.slice(0, CHECKPOINT_LIMITS.maxReadAfter).map(({ path, before, after }) => {
      if (before?.hash) this.contents.use(before.hash);
      return { path, before: stateOf(before), after: stateOf(after) };
    });
    const isKept = this.keep(changer, kept)(true);
    const isLost = ({ before, after }: SeenChange, at: number) =>
      !isKept ||
      at >= kept.length ||
      after?.hash === null ||
      (before !== null && (before.hash === null || !this.contents.has(before.hash)));
    return changes.filter(isLost).map(({ path }) => shownName(path));
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
