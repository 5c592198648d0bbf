/** Remembers the closed paths of a workspace, so that nothing a command makes later takes their place in a sandbox. */
import { lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { type ClosedEntries, type ClosedEntry, identityOf } from './closed-entries.ts';

/** Of one confinement, from its self-test on: before that no command of ours was there to make anything. */
export class KnownEntries {
  readonly #workspace: string;
  readonly #known: ClosedEntry[] = [];
  /** By path and by identity, for a file may be replaced and a folder moved. */
  readonly #turns = new Map<string, number>();

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /** The most important first: what was known first, then by {@link byImportance}; also what a cut look has missed. */
  async ranked({ entries, isCut }: ClosedEntries): Promise<readonly ClosedEntry[]> {
    const missed = isCut ? await this.#stillThere(entries) : [];
    const all = byImportance([...missed, ...entries], this.#workspace);
    const ranked = all.sort((a, b) => this.#turnOf(a) - this.#turnOf(b));
    for (const entry of ranked) this.#remember(entry);
    return ranked;
  }

  async #stillThere(found: readonly ClosedEntry[]): Promise<ClosedEntry[]> {
    const paths = new Set(found.map(({ path }) => path));
    const missing = this.#known.filter(({ path }) => !paths.has(path));
    const present = await Promise.all(missing.map(isThere));
    return missing.filter((_, index) => present[index]);
  }

  #turnOf({ path, identity }: ClosedEntry): number {
    const never = this.#known.length;
    return Math.min(this.#turns.get(path) ?? never, this.#turns.get(identity) ?? never);
  }

  /** More than one sandbox can close need not be known. */
  #remember(entry: ClosedEntry): void {
    const turn = this.#known.length;
    if (this.#turnOf(entry) < turn || turn >= COMMAND_LIMITS.maxMounts) return;
    this.#known.push(entry);
    this.#turns.set(entry.path, turn).set(entry.identity, turn);
  }
}

/** What is in the workspace's own folder comes before what is below, what configures programs before secrets. */
function byImportance(entries: readonly ClosedEntry[], workspace: string): ClosedEntry[] {
  const rank = ({ path, closure }: ClosedEntry) =>
    (dirname(path) === workspace ? 0 : 2) + (closure === 'protected' ? 0 : 1);
  return [...entries].sort((a, b) => rank(a) - rank(b));
}

/** A link on the way would make it a place that nothing can be mounted on. */
async function isThere({ path, identity }: ClosedEntry): Promise<boolean> {
  try {
    const isReal = (await realpath(dirname(path))) === dirname(path);
    return isReal && identityOf(await lstat(path, { bigint: true })) === identity;
  } catch {
    // Gone, or out of our reach, and then out of a command's reach too.
    return false;
  }
}
