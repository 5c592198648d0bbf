/** Finds the files and folders that a person may mean who writes a mention. */
import { join } from 'node:path';
import { filterInTurns, Turns } from '../../machine/compute/turns.ts';
import { logTrouble } from '../../machine/log.ts';
import { listFiles } from '../../packages/code-index/index.ts';
import type { Workspace } from '../../packages/workspace/index.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { MINUTE, SECOND } from '../../shared/units.ts';
import type { FileQuery, FoundFile } from '../../shared/wire/files.ts';
import { findCandidates } from '../rules/find.ts';
import { type CompletionEntry, newEntry, rank } from './rank.ts';

const COMPLETION_LIMITS = {
  /** How long a listing counts as new. A person types some characters a second, and each asks. */
  freshMs: 5 * SECOND,
  /** How long an unused listing stays in memory: that of a large workspace takes some 20 MB. */
  keptMs: MINUTE,
} as const;

export interface CompletionDeps {
  readonly workspace: Workspace;
  /** The policy of this moment: whether the agent may name and read a path, relative to the workspace, unasked. */
  readonly readPolicy: () => Promise<(path: string) => boolean>;
  /** The files that are open in an editor, relative to the workspace. Does not reject. */
  readonly readOpen: () => Promise<readonly string[]>;
  readonly signal: AbortSignal;
}

interface ListedPaths {
  /** The file that was changed last comes first, a folder behind its first file. */
  readonly entries: readonly CompletionEntry[];
  readonly atMs: number;
}

/** Keeps the last listing for some time, so that most answers need no look at the disk. */
export class Completion {
  readonly #deps: CompletionDeps;
  #known: ListedPaths | undefined;
  #reading: Promise<ListedPaths> | undefined;
  #forgetting: NodeJS.Timeout | undefined;

  constructor(deps: CompletionDeps) {
    this.#deps = deps;
  }

  /**
   * The best first; null where the workspace cannot be listed. A file that was made in the last seconds may be missing.
   * Does not reject.
   */
  async find({ query, limit }: FileQuery): Promise<FoundFile[] | null> {
    try {
      const { workspace, readOpen, readPolicy } = this.#deps;
      const [{ entries }, open, isAllowed] = await Promise.all([
        this.#list(),
        readOpen(),
        readPolicy(),
      ]);
      const readable = workspace.showing(isAllowed);
      const mayShow = (entry: CompletionEntry) => isOpen(readable, entry);
      const found = await rank(entries, { query, preferred: new Set(open), mayShow, limit });
      return found.map(({ path, type }) => ({ path, type }));
    } catch (error) {
      if (!this.#deps.signal.aborted) {
        logTrouble({ event: 'workspace_unread' }, 'The files could not be listed', error);
      }
      return null;
    }
  }

  /** The known listing. An old one is replaced meanwhile. */
  async #list(): Promise<ListedPaths> {
    const known = this.#known;
    if (known && performance.now() - known.atMs < COMPLETION_LIMITS.freshMs) return known;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    if (!known) return await this.#reading;
    this.#reading.catch(() => undefined); // The known one answers as long as it is kept.
    return known;
  }

  async #read(): Promise<ListedPaths> {
    const { workspace, signal } = this.#deps;
    const entries = await listEntries(workspace, signal);
    this.#known = { entries, atMs: performance.now() };
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => {
      this.#known = undefined;
    }, COMPLETION_LIMITS.keptMs).unref();
    return this.#known;
  }
}

async function listEntries(workspace: Workspace, signal: AbortSignal): Promise<CompletionEntry[]> {
  const { root } = workspace;
  const files = listFiles({ folder: root, hidden: true, newestFirst: true, signal });
  const [listed, { found }] = await Promise.all([files, findCandidates(workspace, signal, files)]);
  const rules = new Set(found.map(({ path }) => path));
  // Those of `.cursor/rules` count even where git ignores them.
  const own = found.filter(({ format }) => format === 'mdc').map(({ path }) => path);
  const names = [...new Set([...listed, ...own])];
  const named = await filterInTurns(names, hasMention);
  return await withFolders(named, (path) => (rules.has(path) ? 'rule' : 'file'));
}

/** Whether a message can name the path, and a list can show it as it is. */
function hasMention(path: string): boolean {
  const isShort = path.length <= REQUEST_LIMITS.maxPathChars;
  return isShort && !/["`]/.test(path) && nameInLine(path) === path;
}

async function withFolders(
  paths: readonly string[],
  typeOf: (path: string) => FoundFile['type'],
): Promise<CompletionEntry[]> {
  const entries: CompletionEntry[] = [];
  const folders = new Set<string>();
  const turns = new Turns();
  for (const path of paths) {
    if (turns.isDue) await turns.take();
    entries.push(newEntry({ path, type: typeOf(path) }));
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
      entries.push(newEntry({ path: folder, type: 'folder' }));
    }
  }
  return entries;
}

function isOpen(workspace: Workspace, { path, type }: FoundFile): boolean {
  const real = join(workspace.root, path);
  return type === 'folder' ? workspace.mayName(real, true) : workspace.mayShow(real);
}
