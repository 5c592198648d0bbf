/** Finds everything in a workspace that blocks the bridge's work, and on request puts it away. */
import { realpath, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type BytePath, fromText, shownName, toBytes } from '../../../machine/byte-path.ts';
import { requireOwnersFile } from '../../../machine/owners-file.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { inOneLine, shorten } from '../../../shared/text/plain-sight.ts';
import { closureOf } from '../../workspace/index.ts';
import { type HeldEntry, HeldFolder, QuarantineError } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import { moveAway } from './moving.ts';
import { QuarantineRecord, quarantineFolder } from './store.ts';

export interface Obstacle {
  /** One sentence: what the obstacle is, where it is, and what it causes. */
  readonly sentence: string;
  /** Whether the obstacle was put away. */
  readonly isPutAway: boolean;
}

export interface Examined {
  readonly workspace: string;
  readonly stateDir: string;
  /** The folder of the owner's configuration, which may have rules for all projects. */
  readonly configDir?: string | undefined;
  /** Throws for a broken file of rules; the message says how it is broken. */
  readonly readRules: (path: string) => Promise<unknown>;
}

/** With `mayMove` each obstacle moves into quarantine, except the owner's own rules. */
export async function findObstacles(
  { workspace, stateDir, configDir, readRules }: Examined,
  { mayMove }: { mayMove: boolean },
): Promise<readonly Obstacle[]> {
  const search = new ObstacleSearch(
    fromText(workspace),
    mayMove
      ? new QuarantineRecord(quarantineFolder(stateDir), {
          workspace,
          command: 'drawbridge check --repair',
        })
      : undefined,
  );
  search.ownersRules(await problemOf(join(stateDir, 'policy.json'), readRules));
  const everywhere = configDir && join(configDir, 'policy.json');
  if (everywhere) search.ownersRules(await problemOf(everywhere, readOwners(readRules)));
  const rules = join(workspace, '.drawbridge', 'policy.json');
  await search.workspacesRules(await problemOf(rules, readRules));
  await search.tree();
  return search.found;
}

class ObstacleSearch {
  readonly found: Obstacle[] = [];
  readonly #workspace: BytePath;
  /** Undefined where nothing may be moved. */
  readonly #record: QuarantineRecord | undefined;
  #left: number = QUARANTINE_LIMITS.maxCheckedEntries;

  constructor(workspace: BytePath, record: QuarantineRecord | undefined) {
    this.#workspace = workspace;
    this.#record = record;
  }

  ownersRules(problem: string | undefined): void {
    if (problem === undefined) return;
    const sentence = `Your own rules are broken, so every call is refused. Repair or remove the file: ${problem}`;
    this.found.push({ sentence, isPutAway: false });
  }

  async workspacesRules(problem: string | undefined): Promise<void> {
    if (problem === undefined) return;
    const sentence = `The workspace’s rules are broken, so every call is refused: ${problem}`;
    await using root = await HeldFolder.open(this.#workspace);
    await using folder = await root.openFolder('.drawbridge').catch(() => undefined);
    if (folder) await this.#report(folder, 'policy.json', sentence);
    // `.drawbridge` itself is no folder.
    else await this.#report(root, '.drawbridge', sentence);
  }

  async tree(): Promise<void> {
    await using root = await HeldFolder.open(this.#workspace);
    await this.#folder(root);
    if (this.#left > 0) return;
    const sentence = 'The workspace is too large to be searched completely.';
    this.found.push({ sentence, isPutAway: false });
  }

  async #folder(folder: HeldFolder): Promise<void> {
    for (const entry of await this.#entriesOf(folder)) {
      if (--this.#left <= 0) return;
      const sentence = await this.#judge(folder, entry);
      if (sentence !== undefined) await this.#report(folder, entry.name, sentence);
      else if (entry.kind === 'folder' && entry.name !== '.git') {
        // A folder that is closed to us is closed to our programs too.
        await using inner = await folder.openFolder(entry.name).catch(() => undefined);
        if (inner) await this.#folder(inner);
      }
    }
  }

  async #entriesOf(folder: HeldFolder): Promise<readonly HeldEntry[]> {
    try {
      return await folder.list();
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw error;
      const shown = shorten(this.#nameOf(folder.path), QUARANTINE_LIMITS.maxWhatChars);
      const sentence = `${shown === '' ? 'The workspace' : shown} was not looked into: ${error.message}.`;
      this.found.push({ sentence, isPutAway: false });
      return [];
    }
  }

  async #judge(folder: HeldFolder, { name, kind }: HeldEntry): Promise<string | undefined> {
    const path = posix.join(folder.path, name);
    const shown = shorten(this.#nameOf(path), QUARANTINE_LIMITS.maxWhatChars);
    if (path.length > MAX_PATH_BYTES) {
      return `${shown} has a path of more than ${MAX_PATH_BYTES} bytes, which no program can open.`;
    }
    if (kind === 'other' && (IGNORE_FILES.has(name) || closureOf(name) !== null)) {
      return `${shown} is a pipe, a socket or a device: programs that expect a file there may wait for ever.`;
    }
    if (kind === 'link' && closureOf(name) === 'secret') return await this.#judgeLink(path, shown);
    return undefined;
  }

  /** A file with a secret's name is hidden from commands. So is the file that it links to. */
  async #judgeLink(path: BytePath, shown: string): Promise<string | undefined> {
    try {
      const target = await realpath(toBytes(path), { encoding: 'latin1' });
      const { mode } = await stat(toBytes(target));
      if (target.startsWith(`${this.#workspace}/`) || (mode & EXECUTABLE) === 0) return undefined;
      const where = shorten(shownName(target), QUARANTINE_LIMITS.maxWhatChars);
      return `${shown} has the name of a secret and leads to the program ${where}, which commands may need.`;
    } catch {
      return undefined; // The link leads nowhere.
    }
  }

  async #report(folder: HeldFolder, name: BytePath, sentence: string): Promise<void> {
    const path = posix.join(folder.path, name);
    const [stored] =
      this.#record?.plan([{ name: this.#nameOf(path), from: path, what: [sentence] }]) ?? [];
    if (this.#record === undefined || stored === undefined) {
      this.found.push({ sentence, isPutAway: false });
      return;
    }
    await using things = await this.#record.things();
    await moveAway({ folder, name }, { folder: things, name: stored });
    this.found.push({ sentence, isPutAway: true });
  }

  #nameOf(path: BytePath): string {
    return shownName(posix.relative(this.#workspace, path));
  }
}

/** Longest path in a system call (PATH_MAX), without the NUL at its end. */
const MAX_PATH_BYTES = 4_095;
const EXECUTABLE = 0o111;
/** Every search reads these. */
const IGNORE_FILES: ReadonlySet<BytePath> = new Set(['.gitignore', '.ignore', '.rgignore']);

function readOwners(readRules: Examined['readRules']): Examined['readRules'] {
  return async (path) => {
    await readRules(path);
    await requireOwnersFile(path).catch((error: unknown) => {
      if (!isSystemError(error, 'ENOENT', 'ENOTDIR')) throw error;
    });
  };
}

async function problemOf(
  path: string,
  readRules: Examined['readRules'],
): Promise<string | undefined> {
  try {
    await readRules(path);
    return undefined;
  } catch (error) {
    return inOneLine(error instanceof Error ? error.message : String(error));
  }
}
