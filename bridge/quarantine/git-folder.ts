/** Searches a repository's own folder for everything that is not known to be harmless. */
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inOneLine, shorten } from '../../shared/text/plain-sight.ts';
import { type BytePath, shownName } from '../sandbox/byte-path.ts';
import { findProgram } from '../sandbox/programs.ts';
import { configOf, judgeConfig, PLAIN_SETTINGS, type Setting } from './git-config.ts';
import { type HeldEntry, type HeldFolder, kindOf, QuarantineError } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

/** One entry that must not stay. */
export interface GitFinding {
  /** The names that lead to the entry from the repository's folder: `hooks`, `pre-commit`. */
  readonly way: readonly BytePath[];
  /** What the entry would start, for people. */
  readonly what: readonly string[];
  /** The text of the file that replaces the entry. */
  readonly replacement?: string;
}

/** The machine's git; the fields are undefined where it has none. */
export interface GitTools {
  readonly git: string | undefined;
  /** The folder of example hooks that git copies into each new repository. Git does not run them. */
  readonly samples: string | undefined;
}

export async function findGitTools(): Promise<GitTools> {
  const git = await findProgram('git');
  const real = git === undefined ? undefined : await realpath(git).catch(() => undefined);
  const samples = real && join(dirname(dirname(real)), 'share/git-core/templates/hooks');
  return { git, samples };
}

/**
 * Finds all entries of a repository that are not on the list of harmless ones. The list names what may stay, because
 * git has many ways to start a program: its hooks, most settings, a `commondir` with another configuration, the
 * commands of a rebase in progress, a log that is a link to a shell's profile.
 * @throws {QuarantineError} or the system's error when the repository cannot be searched; then nothing is known.
 */
export async function examineRepository(
  folder: HeldFolder,
  tools: GitTools,
): Promise<readonly GitFinding[]> {
  const examination = new Examination(tools);
  await examination.repository(folder, []);
  return examination.findings;
}

/** The same for one of the settings of a folder that only looks like a repository. */
export async function examineSetting(
  folder: HeldFolder,
  name: BytePath,
  tools: GitTools,
): Promise<readonly GitFinding[]> {
  const examination = new Examination(tools);
  await examination.setting(folder, name);
  return examination.findings;
}

type Way = readonly BytePath[];

/** Files that git writes for itself. They hold only data. A worktree has them too. */
const STATE_FILES =
  /^(?:(?:ORIG_|FETCH_|MERGE_|CHERRY_PICK_|REVERT_)?HEAD|MERGE_(?:MODE|MSG|RR)|AUTO_MERGE|(?:COMMIT|TAG)_EDITMSG|SQUASH_MSG|index|sharedindex\.[0-9a-f]+)$/;
const REPOSITORY_FILES = /^(?:packed-refs|shallow|description)$/;
const INFO_FILES = /^(?:attributes|exclude|refs|sparse-checkout|grafts)$/;
const WORKTREE_FILES = /^(?:gitdir|locked)$/;
/** Any of these makes a folder below `modules` a repository instead of a part of a submodule's name. */
const REPOSITORY_MARKS = /^(?:HEAD|config|commondir|objects|refs|hooks)$/;
const SAMPLE = /^[a-z-]+\.sample$/;

class Examination {
  readonly findings: GitFinding[] = [];
  readonly #tools: GitTools;
  #seen = 0;

  constructor(tools: GitTools) {
    this.#tools = tools;
  }

  async repository(folder: HeldFolder, way: Way): Promise<void> {
    for (const entry of await this.#list(folder, way)) {
      const { name, kind } = entry;
      if (kind === 'file' && name === 'config') await this.#config(folder, way);
      else if (kind === 'file') {
        const isKnown = STATE_FILES.test(name) || REPOSITORY_FILES.test(name);
        await this.#file(folder, way, name, isKnown);
      } else if (kind === 'folder') await this.#repositoryFolder(folder, way, name);
      else this.#refuse(way, name);
    }
  }

  async setting(folder: HeldFolder, name: BytePath): Promise<void> {
    const kind = kindOf(await folder.stat(name));
    if (name === 'config' && kind === 'file') await this.#config(folder, []);
    else if (name === 'hooks' && kind === 'folder') await this.#repositoryFolder(folder, [], name);
    // Git reads no settings from a folder: this one is the project's.
    else if (name === 'hooks' || kind !== 'folder') this.#refuse([], name);
  }

  async #repositoryFolder(folder: HeldFolder, way: Way, name: BytePath): Promise<void> {
    switch (name) {
      case 'objects':
        return await this.#within(folder, way, name, (held, inner) =>
          this.#data(held, inner, { mayShare: true }),
        );
      case 'refs':
      case 'logs':
      case 'reftable':
        return await this.#within(folder, way, name, (held, inner) =>
          this.#data(held, inner, { mayShare: false }),
        );
      case 'info':
        return await this.#within(folder, way, name, (held, inner) =>
          this.#files(held, inner, INFO_FILES),
        );
      case 'hooks':
        return await this.#within(folder, way, name, (held, inner) => this.#hooks(held, inner));
      case 'branches':
        // An old kind of remote: each file in `branches` names an address.
        return await this.#within(folder, way, name, (held, inner) =>
          this.#files(held, inner, NOTHING),
        );
      case 'modules':
        return await this.#within(folder, way, name, (held, inner) => this.#modules(held, inner));
      case 'worktrees':
        return await this.#within(folder, way, name, (held, inner) => this.#worktrees(held, inner));
      default:
        return this.#refuse(way, name);
    }
  }

  /** Searches the submodules' repositories. Their names may have slashes, so there can be folders in between. */
  async #modules(folder: HeldFolder, way: Way): Promise<void> {
    for (const { name, kind } of await this.#list(folder, way)) {
      if (kind !== 'folder') this.#refuse(way, name);
      else {
        await this.#within(folder, way, name, async (held, inner) => {
          const entries = await this.#list(held, inner);
          const isRepository = entries.some((entry) => REPOSITORY_MARKS.test(entry.name));
          await (isRepository ? this.repository(held, inner) : this.#modules(held, inner));
        });
      }
    }
  }

  async #worktrees(folder: HeldFolder, way: Way): Promise<void> {
    for (const { name, kind } of await this.#list(folder, way)) {
      if (kind !== 'folder') this.#refuse(way, name);
      else {
        await this.#within(folder, way, name, (held, inner) => this.#worktree(held, inner));
      }
    }
  }

  async #worktree(folder: HeldFolder, way: Way): Promise<void> {
    for (const { name, kind } of await this.#list(folder, way)) {
      if (kind === 'folder' && (name === 'logs' || name === 'refs')) {
        await this.#within(folder, way, name, (held, inner) =>
          this.#data(held, inner, { mayShare: false }),
        );
      } else if (kind === 'file' && name === 'commondir') {
        const text = (await folder.read(name, QUARANTINE_LIMITS.maxLinkBytes))?.toString('latin1');
        if (text?.trim() !== '../..') this.#refuse(way, name);
      } else if (kind === 'file') {
        const isKnown = STATE_FILES.test(name) || WORKTREE_FILES.test(name);
        await this.#file(folder, way, name, isKnown);
      } else this.#refuse(way, name);
    }
  }

  /**
   * Clones share objects by hard links. A file that git appends to must have no second link: `mayShare` is false for
   * it.
   */
  async #data(folder: HeldFolder, way: Way, { mayShare }: { mayShare: boolean }): Promise<void> {
    for (const { name, kind } of await this.#list(folder, way)) {
      if (kind === 'folder') {
        await this.#within(folder, way, name, (held, inner) =>
          this.#data(held, inner, { mayShare }),
        );
      } else if (kind !== 'file') this.#refuse(way, name);
      else if (!mayShare) await this.#file(folder, way, name, true);
    }
  }

  async #files(folder: HeldFolder, way: Way, known: RegExp): Promise<void> {
    for (const { name, kind } of await this.#list(folder, way)) {
      if (kind === 'file') await this.#file(folder, way, name, known.test(name));
      else this.#refuse(way, name);
    }
  }

  async #hooks(folder: HeldFolder, way: Way): Promise<void> {
    for (const { name, kind } of await this.#list(folder, way)) {
      if (kind !== 'file' || !(await this.#isSample(folder, name))) this.#refuse(way, name);
    }
  }

  async #isSample(folder: HeldFolder, name: BytePath): Promise<boolean> {
    const { samples } = this.#tools;
    if (samples === undefined || !SAMPLE.test(name)) return false;
    const own = await readFile(join(samples, name)).catch(() => undefined);
    const made = await folder.read(name, QUARANTINE_LIMITS.maxConfigBytes);
    return own !== undefined && made?.equals(own) === true;
  }

  async #config(folder: HeldFolder, way: Way): Promise<void> {
    const bytes = await folder.read('config', QUARANTINE_LIMITS.maxConfigBytes);
    const judged = bytes && (await judgeConfig(bytes, this.#tools.git));
    if (judged === undefined) {
      const what = [`${shownWay([...way, 'config'])}, which git cannot read`];
      this.#add({ way: [...way, 'config'], what, replacement: configOf(PLAIN_SETTINGS) });
      return;
    }
    const { nlink } = await folder.stat('config');
    if (judged.refused.length === 0 && nlink === 1n) return;
    const what = boundedWhat(judged.refused.map(shownSetting));
    this.#add({ way: [...way, 'config'], what, replacement: configOf(judged.harmless) });
  }

  async #file(folder: HeldFolder, way: Way, name: BytePath, isKnown: boolean): Promise<void> {
    if (!isKnown || (await folder.stat(name)).nlink > 1n) this.#refuse(way, name);
  }

  async #within(
    folder: HeldFolder,
    way: Way,
    name: BytePath,
    look: (held: HeldFolder, way: Way) => Promise<void>,
  ): Promise<void> {
    if (way.length >= QUARANTINE_LIMITS.maxDepth) throw new QuarantineError('it is too deep');
    await using held = await folder.openAnyway(name);
    await look(held, [...way, name]);
  }

  async #list(folder: HeldFolder, way: Way): Promise<readonly HeldEntry[]> {
    const entries = await folder.list();
    this.#seen += entries.length;
    if (this.#seen > QUARANTINE_LIMITS.maxEntries) {
      throw new QuarantineError(`it holds too much to look at (${shownWay(way)})`);
    }
    return entries;
  }

  #refuse(way: Way, name: BytePath): void {
    this.#add({ way: [...way, name], what: [shownWay([...way, name])] });
  }

  #add(finding: GitFinding): void {
    if (this.findings.length === QUARANTINE_LIMITS.maxFindings) {
      throw new QuarantineError('it holds too many things that may start programs');
    }
    this.findings.push(finding);
  }
}

/** Matches no name. */
const NOTHING = /(?!)/;

/** Keeps the first `maxWhats`, and says how many more there are. */
export function boundedWhat(what: readonly string[]): string[] {
  const { maxWhats } = QUARANTINE_LIMITS;
  const others = what.length - maxWhats;
  return others > 0 ? [...what.slice(0, maxWhats), `${others} more`] : [...what];
}

function shownSetting({ key, value }: Setting): string {
  return shorten(inOneLine(`${key} = ${value}`), QUARANTINE_LIMITS.maxWhatChars);
}

function shownWay(way: Way): string {
  return shorten(way.map(shownName).join('/'), QUARANTINE_LIMITS.maxWhatChars);
}
