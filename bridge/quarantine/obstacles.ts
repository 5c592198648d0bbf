/** Finds what in a workspace stands in the way of the bridge's work, whoever made it; and puts it away when told to. */
import { realpath, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { inOneLine, shorten } from '../../shared/plain-sight.ts';
import { type BytePath, fromText, shownName, toBytes } from '../sandbox/byte-path.ts';
import { closureOf } from '../sandbox/protected.ts';
import { type HeldEntry, HeldFolder, QuarantineError } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import { moveAway } from './moving.ts';
import { QuarantineRecord, quarantineFolder } from './store.ts';

export interface Obstacle {
  /** One sentence: what it is, where, and what it does. */
  readonly sentence: string;
  /** Whether it was put away. */
  readonly isMended: boolean;
}

export interface Examined {
  readonly workspace: string;
  readonly stateDir: string;
  /** Throws for a file of rules that is broken, and says in its message how. */
  readonly readRules: (path: string) => Promise<unknown>;
}

/** With `mend` each is moved into quarantine, but what is the owner's own. */
export async function findObstacles(
  { workspace, stateDir, readRules }: Examined,
  { mend }: { mend: boolean },
): Promise<readonly Obstacle[]> {
  const search = new ObstacleSearch(
    fromText(workspace),
    mend
      ? new QuarantineRecord(quarantineFolder(stateDir), {
          workspace,
          command: 'drawbridge check --mend',
        })
      : undefined,
  );
  search.ownersRules(await problemOf(join(stateDir, 'policy.json'), readRules));
  const rules = join(workspace, '.drawbridge', 'policy.json');
  await search.workspacesRules(await problemOf(rules, readRules));
  await search.tree();
  return search.found;
}

class ObstacleSearch {
  readonly found: Obstacle[] = [];
  readonly #workspace: BytePath;
  /** Absent where nothing is to be moved. */
  readonly #record: QuarantineRecord | undefined;
  #left: number = QUARANTINE_LIMITS.maxCheckedEntries;

  constructor(workspace: BytePath, record: QuarantineRecord | undefined) {
    this.#workspace = workspace;
    this.#record = record;
  }

  ownersRules(problem: string | undefined): void {
    if (problem === undefined) return;
    const sentence = `Your own rules are broken, so every call is refused; mend or remove the file: ${problem}`;
    this.found.push({ sentence, isMended: false });
  }

  async workspacesRules(problem: string | undefined): Promise<void> {
    if (problem === undefined) return;
    const sentence = `The workspace’s rules are broken, so every call is refused: ${problem}`;
    await using root = await HeldFolder.open(this.#workspace);
    await using folder = await root.openFolder('.drawbridge').catch(() => undefined);
    if (folder) await this.#report(folder, 'policy.json', sentence);
    // It is no folder itself.
    else await this.#report(root, '.drawbridge', sentence);
  }

  async tree(): Promise<void> {
    await using root = await HeldFolder.open(this.#workspace);
    await this.#folder(root);
    if (this.#left > 0) return;
    const sentence = 'The workspace is too large to be looked at as a whole.';
    this.found.push({ sentence, isMended: false });
  }

  async #folder(folder: HeldFolder): Promise<void> {
    for (const entry of await this.#entriesOf(folder)) {
      if (--this.#left <= 0) return;
      const sentence = await this.#judge(folder, entry);
      if (sentence !== undefined) await this.#report(folder, entry.name, sentence);
      else if (entry.kind === 'folder' && entry.name !== '.git') {
        // What is closed to us is closed to our programs too.
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
      this.found.push({ sentence, isMended: false });
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

  /** What looks like a secret is hidden from commands, and with it what it leads to. */
  async #judgeLink(path: BytePath, shown: string): Promise<string | undefined> {
    try {
      const target = await realpath(toBytes(path), { encoding: 'latin1' });
      const { mode } = await stat(toBytes(target));
      if (target.startsWith(`${this.#workspace}/`) || (mode & EXECUTABLE) === 0) return undefined;
      const where = shorten(shownName(target), QUARANTINE_LIMITS.maxWhatChars);
      return `${shown} has the name of a secret and leads to the program ${where}, which commands may need.`;
    } catch {
      return undefined; // It leads nowhere.
    }
  }

  async #report(folder: HeldFolder, name: BytePath, sentence: string): Promise<void> {
    const path = posix.join(folder.path, name);
    const [stored] =
      this.#record?.plan([{ name: this.#nameOf(path), from: path, what: [sentence] }]) ?? [];
    if (this.#record === undefined || stored === undefined) {
      this.found.push({ sentence, isMended: false });
      return;
    }
    await using things = await this.#record.things();
    await moveAway({ folder, name }, { folder: things, name: stored });
    this.found.push({ sentence, isMended: true });
  }

  #nameOf(path: BytePath): string {
    return shownName(posix.relative(this.#workspace, path));
  }
}

/** Of a path in a call of the system (PATH_MAX), without the NUL at its end. */
const MAX_PATH_BYTES = 4_095;
const EXECUTABLE = 0o111;
/** Read by every search. */
const IGNORE_FILES: ReadonlySet<BytePath> = new Set(['.gitignore', '.ignore', '.rgignore']);

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
