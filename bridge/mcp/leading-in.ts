/**
 * Finds what of a listed program leads into the workspace. The agent may write there, so a program that loads something
 * from it would run the agent's code outside the sandbox.
 */
import { lstat, open, readlink, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, parse, resolve } from 'node:path';
import type { StdioConfig } from './server-list.ts';

/** Where a program runs. All folders are absolute. */
export interface ProgramPlace {
  /** Of the list: what the program's relative paths begin at. */
  readonly folder: string;
  readonly workspace: string;
  /** Of the bridge. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Names the values that lead into the workspace, for a person; their text may hold keys. What a program outside the
 * workspace loads by itself (a package that is linked to the workspace, its own settings) shows in no value.
 */
export async function valuesInto(
  { command, args, env, cwd = '.' }: Omit<StdioConfig, 'disabled'>,
  { folder, workspace, environment }: ProgramPlace,
): Promise<readonly string[]> {
  const from = resolve(folder, cwd);
  const known = { ...environment, ...env };
  const target = await Target.of(workspace);
  const leads = async (text: string, isSearched: boolean) => {
    for (const path of pathsIn(text, known))
      if (await target.isReachedBy(resolveRaw(from, path), isSearched)) return true;
    return target.isNamedIn(text, known);
  };
  const program = await programOf(command, { from, searchPath: known['PATH'] });
  const isFolderOption = (at: number) => FOLDER_OPTION.test(args[at - 1] ?? '');
  const values: readonly (readonly [name: string, text: string, isSearched: boolean])[] = [
    ['its cwd', resolveRaw(folder, cwd), true],
    ['its command', program.file, false],
    ['its command', program.interpreter, false],
    ...args.map((text, at) => {
      const isSearched = isFolderOption(at) || FOLDER_OPTION.test(text.split('=', 1)[0] ?? '');
      return [`argument ${at + 1}`, text, isSearched] as const;
    }),
    ...Object.entries(env).map(
      ([name, text]) => [`the variable ${name}`, text, SEARCHED.test(name)] as const,
    ),
  ];
  const found: string[] = [];
  for (const [name, text, isSearched] of values)
    if (!found.includes(name) && (await leads(text, isSearched))) found.push(name);
  return found;
}

/** Without the folders of the workspace, which a shell of the person's may have put there. */
export async function searchPathOutside(searchPath: string, workspace: string): Promise<string> {
  const target = await Target.of(workspace);
  const kept: string[] = [];
  for (const folder of searchPath.split(delimiter))
    if (isAbsolute(folder) && !(await target.isReachedBy(folder, true))) kept.push(folder);
  return kept.join(delimiter);
}

/** Options and variables that name folders where programs look for code: one around the workspace reaches it, too. */
const FOLDER_OPTION = /^(?:-C|-I|-L|-r|--(?:cwd|dir|directory|import|prefix|project|require))$/;
const SEARCHED = /(?:PATH|LIB|OPTIONS|PREFIX)$/i;

/** The workspace, by all its names. */
class Target {
  readonly #root: string;
  readonly #identity: string;

  private constructor(root: string, identity: string) {
    this.#root = root;
    this.#identity = identity;
  }

  static async of(root: string): Promise<Target> {
    return new Target(root, (await identityOf(root)) ?? '');
  }

  /** Whether the text has its path, as in a script. The path `/app` is no part of `/opt/app` or `/app-2`. */
  isNamedIn(text: string, known: Known): boolean {
    return readingsOf(text, known).some((reading) => {
      for (
        let at = reading.indexOf(this.#root);
        at >= 0;
        at = reading.indexOf(this.#root, at + 1)
      ) {
        const [before, after] = [reading.slice(0, at), reading.slice(at + this.#root.length)];
        if (!/[\w.~/-]$/.test(before) && !/^[\w.-]/.test(after)) return true;
      }
      return false;
    });
  }

  /**
   * Walks an absolute path as the system does, link by link: a path that goes through the workspace ends wherever the
   * agent wants. With `isSearched` a path that ends around the workspace reaches it, too.
   */
  async isReachedBy(path: string, isSearched: boolean): Promise<boolean> {
    const { root } = parse(path);
    let at = root;
    let rest = path.slice(root.length).split('/');
    for (let links = 0; rest.length > 0; ) {
      const [name = '', ...others] = rest;
      rest = others;
      if (name === '' || name === '.') continue;
      if (name === '..') {
        at = dirname(at);
        continue;
      }
      const next = join(at, name);
      const link = await readlink(next).catch(() => undefined);
      if (link === undefined) {
        at = next;
        if (at === this.#root || (await identityOf(at)) === this.#identity) return true;
        continue;
      }
      links += 1;
      if (links > MAX_LINKS) return true;
      if (isAbsolute(link)) at = root;
      rest = [...link.split('/'), ...rest];
    }
    return isSearched && (at === root || this.#root.startsWith(`${at}/`));
  }
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** Of a folder, however it is called; undefined for anything else. */
async function identityOf(path: string): Promise<string | undefined> {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  return stats?.isDirectory() === true ? `${stats.dev}:${stats.ino}` : undefined;
}

type Known = Readonly<Record<string, string | undefined>>;

/** What a value may stand for: as it is, with its variables, and as an address. */
function readingsOf(text: string, known: Known): string[] {
  const filled = text.replaceAll(
    /\$(?:(\w+)|\{(\w+)\})/g,
    (given, bare, braced) => known[bare ?? braced] ?? given,
  );
  const readings = [text, filled, decoded(filled)].map((one) => one.replaceAll(WEB_HOST, 'web'));
  return [...new Set(readings)];
}

/** Its path is none of this machine. */
const WEB_HOST = /\b(?:https?|wss?):\/\/[^/\s?#"']*/gi;

function decoded(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}

/** Every part of a value that a program may take for a path. */
function* pathsIn(text: string, known: Known): Generator<string> {
  for (const reading of readingsOf(text, known)) {
    for (const part of new Set([
      reading,
      ...reading.split(/=(.*)/s),
      ...reading.split(SEPARATORS),
    ])) {
      const word = part.replace(/^-[A-Za-z](?=[./~])/, '').replace(/^(?:\w+\+)?file:\/\//, '');
      if (word === '' || word.startsWith('-')) continue;
      yield /^~(?=\/|$)/.test(word) ? `${known['HOME'] ?? '~'}${word.slice(1)}` : word;
    }
  }
}

const SEPARATORS = /[\s"'`=:;,|&<>()[\]{}@]+/;

/** `resolve` would take `..` away by its name, where the system follows the link before it. */
function resolveRaw(from: string, path: string): string {
  return isAbsolute(path) ? path : `${from}/${path}`;
}

/** The file that a command runs, and the first line of a script. */
async function programOf(
  command: string,
  { from, searchPath = '' }: { readonly from: string; readonly searchPath: string | undefined },
): Promise<{ readonly file: string; readonly interpreter: string }> {
  const folders = command.includes('/') ? [from] : searchPath.split(delimiter);
  for (const folder of folders) {
    const file = resolveRaw(resolve(from, folder), command);
    if ((await stat(file).catch(() => undefined))?.isFile() !== true) continue;
    return { file, interpreter: await firstLineOf(file) };
  }
  return { file: command, interpreter: '' };
}

async function firstLineOf(file: string): Promise<string> {
  try {
    await using handle = await open(file, 'r');
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(MAX_FIRST_LINE) });
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n');
    return line.startsWith('#!') ? line.slice(2).trim() : '';
  } catch {
    return ''; // A program that only may be run.
  }
}

/** Of Linux, in bytes. */
const MAX_FIRST_LINE = 256;
