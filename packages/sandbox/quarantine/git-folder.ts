/** Searches a repository's own folder for everything that is not known to be harmless. */
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BytePath, shownName } from '../../../machine/byte-path.ts';
import { kindOf } from '../../../machine/entry-kind.ts';
import { findProgram } from '../../../machine/programs.ts';
import { inOneLine, shorten } from '../../../shared/text/plain-sight.ts';
import { configOf, judgeConfig, PLAIN_SETTINGS, type Setting } from './git-config.ts';
import { type HeldEntry, type HeldFolder, QuarantineError } from './held-folder.ts';
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
  await examination.folder(folder, [], REPOSITORY);
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

/** What may stay in a folder. Everything else goes. */
interface Layout {
  readonly files?: RegExp;
  /** Git appends to files, so none may have a second name; but clones share objects so. */
  readonly mayShare?: true;
  /** For the files that `files` does not name. */
  readonly isKnown?: (folder: HeldFolder, name: BytePath, tools: GitTools) => Promise<boolean>;
  readonly folders?: ReadonlyMap<BytePath, Layout>;
  /** Of all folders that `folders` does not name. */
  readonly others?: Layout | 'same';
}

/** Files that git writes for itself. They hold only data. */
const STATE_FILES = [
  '(?:ORIG_|FETCH_|MERGE_|CHERRY_PICK_|REVERT_)?HEAD|MERGE_(?:MODE|MSG|RR)|AUTO_MERGE',
  '(?:COMMIT|TAG)_EDITMSG|SQUASH_MSG|index|sharedindex\\.[0-9a-f]+',
].join('|');

const DATA: Layout = { files: /^/, others: 'same' };
const OBJECTS: Layout = { ...DATA, mayShare: true };
const HOOKS: Layout = { isKnown: isSample };

const WORKTREE: Layout = {
  files: new RegExp(`^(?:${STATE_FILES}|gitdir|locked)$`),
  isKnown: isUsualCommonDir,
  folders: new Map([
    ['logs', DATA],
    ['refs', DATA],
  ]),
};

/** A submodule's name may have slashes, so there can be folders around its repository. */
const SUBMODULE: Layout = { others: 'same' };

const REPOSITORY: Layout = {
  files: new RegExp(`^(?:${STATE_FILES}|packed-refs|shallow|description)$`),
  folders: new Map<BytePath, Layout>([
    ['objects', OBJECTS],
    ['refs', DATA],
    ['logs', DATA],
    ['reftable', DATA],
    ['info', { files: /^(?:attributes|exclude|refs|sparse-checkout|grafts)$/ }],
    ['hooks', HOOKS],
    ['branches', {}], // An old kind of remote: each file in it names an address.
    ['modules', { others: SUBMODULE }],
    ['worktrees', { others: WORKTREE }],
  ]),
};

/** Any of these makes a folder below `modules` a repository. */
const REPOSITORY_MARKS = /^(?:HEAD|config|commondir|objects|refs|hooks)$/;

class Examination {
  readonly findings: GitFinding[] = [];
  readonly #tools: GitTools;
  #seen = 0;

  constructor(tools: GitTools) {
    this.#tools = tools;
  }

  async folder(folder: HeldFolder, way: Way, expected: Layout): Promise<void> {
    const entries = await this.#list(folder, way);
    const isRepository = entries.some(({ name }) => REPOSITORY_MARKS.test(name));
    const layout = expected === SUBMODULE && isRepository ? REPOSITORY : expected;
    for (const { name, kind } of entries) {
      const inner =
        layout.folders?.get(name) ?? (layout.others === 'same' ? layout : layout.others);
      if (kind === 'file' && name === 'config' && layout === REPOSITORY)
        await this.#config(folder, way);
      else if (kind === 'folder' && inner) await this.#within(folder, [...way, name], inner);
      else if (kind !== 'file' || !(await this.#mayStay(folder, name, layout)))
        this.#refuse([...way, name]);
    }
  }

  async setting(folder: HeldFolder, name: BytePath): Promise<void> {
    const kind = kindOf(await folder.stat(name));
    if (name === 'config' && kind === 'file') await this.#config(folder, []);
    else if (name === 'hooks' && kind === 'folder') await this.#within(folder, [name], HOOKS);
    // Git reads no settings from a folder: this one is the project's.
    else if (name === 'hooks' || kind !== 'folder') this.#refuse([name]);
  }

  async #mayStay(
    folder: HeldFolder,
    name: BytePath,
    { files, mayShare, isKnown }: Layout,
  ): Promise<boolean> {
    if (!files?.test(name)) return (await isKnown?.(folder, name, this.#tools)) === true;
    return mayShare === true || (await folder.stat(name)).nlink === 1n;
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

  /** `way` leads to a folder in the held one. */
  async #within(held: HeldFolder, way: Way, layout: Layout): Promise<void> {
    if (way.length > QUARANTINE_LIMITS.maxDepth) throw new QuarantineError('it is too deep');
    await using folder = await held.openAnyway(way.at(-1) ?? '');
    await this.folder(folder, way, layout);
  }

  async #list(folder: HeldFolder, way: Way): Promise<readonly HeldEntry[]> {
    const entries = await folder.list();
    this.#seen += entries.length;
    if (this.#seen > QUARANTINE_LIMITS.maxEntries) {
      throw new QuarantineError(`it holds too much to look at (${shownWay(way)})`);
    }
    return entries;
  }

  #refuse(way: Way): void {
    this.#add({ way, what: [shownWay(way)] });
  }

  #add(finding: GitFinding): void {
    if (this.findings.length === QUARANTINE_LIMITS.maxFindings) {
      throw new QuarantineError('it holds too many things that may start programs');
    }
    this.findings.push(finding);
  }
}

/** One of the example hooks, as git brings them. */
async function isSample(
  folder: HeldFolder,
  name: BytePath,
  { samples }: GitTools,
): Promise<boolean> {
  if (samples === undefined || !/^[a-z-]+\.sample$/.test(name)) return false;
  const own = await readFile(join(samples, name)).catch(() => undefined);
  const made = await folder.read(name, QUARANTINE_LIMITS.maxConfigBytes);
  return own !== undefined && made?.equals(own) === true;
}

/** Leads from a worktree's folder to the repository around it. */
async function isUsualCommonDir(folder: HeldFolder, name: BytePath): Promise<boolean> {
  if (name !== 'commondir') return false;
  const bytes = await folder.read(name, QUARANTINE_LIMITS.maxLinkBytes);
  return bytes?.toString('latin1').trim() === '../..';
}

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
