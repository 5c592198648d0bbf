/**
 * Finds what of a listed program leads into the workspace. The agent may write there, so a program that loads something
 * from it would run the agent's code outside the sandbox.
 */

import { lstat, open, readFile, readlink, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, parse, resolve } from 'node:path';
import type { Environment } from '../../../machine/environment.ts';
import type { StdioConfig } from '../server-list.ts';

/** Where a program runs. All folders are absolute. */
export interface ProgramPlace {
  /** Of the list: what the program's relative paths begin at. */
  readonly folder: string;
  readonly workspace: string;
  /** Of the bridge. */
  readonly environment: Environment;
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
  const variables = { ...environment, ...env };
  const known = { variables, homes: await homesOfUsers() };
  const target = await LeadingTarget.of(workspace);
  const leads = async (text: string, isSearched: boolean) => {
    for (const path of pathsIn(text, known))
      if (await target.isReachedBy(resolveRaw(from, path), isSearched)) return true;
    return target.isNamedIn(text, known);
  };
  const program = await programOf(command, { from, searchPath: variables['PATH'] });
  const isFolderOption = (at: number) => FOLDER_OPTION.test(args[at - 1] ?? '');
  const values: readonly (readonly [name: string, text: string, isSearched: boolean])[] = [
    // The list's own folder is a state folder, which no agent writes to, also where it surrounds the workspace.
    ['its cwd', resolveRaw(folder, cwd), from !== resolve(folder)],
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
  for (const [at, text] of args.entries())
    if (!found.includes(`argument ${at + 1}`) && beginsUnread(text, known))
      found.push(`argument ${at + 1} (whose path only a shell can work out)`);
  return found;
}

/** Without the folders of the workspace, which a shell of the person's may have put there. */
export async function searchPathOutside(searchPath: string, workspace: string): Promise<string> {
  const target = await LeadingTarget.of(workspace);
  const kept: string[] = [];
  for (const folder of searchPath.split(delimiter))
    if (isAbsolute(folder) && !(await target.isReachedBy(folder, true))) kept.push(folder);
  return kept.join(delimiter);
}

/** Options and variables that name folders where programs look for code: one around the workspace reaches it, too. */
const FOLDER_OPTION = /^(?:-C|-I|-L|-r|--(?:cwd|dir|directory|import|prefix|project|require))$/;
const SEARCHED = /(?:PATH|LIB|OPTIONS|PREFIX)$/i;

/** The workspace, by all its names. */
class LeadingTarget {
  readonly #root: string;
  readonly #identity: string;

  private constructor(root: string, identity: string) {
    this.#root = root;
    this.#identity = identity;
  }

  static async of(root: string): Promise<LeadingTarget> {
    return new LeadingTarget(root, (await identityOf(root)) ?? '');
  }

  /** Whether the text has its path, as in a script. The path `/app` is no part of `/opt/app` or `/app-2`. */
  isNamedIn(text: string, known: KnownNames): boolean {
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

interface KnownNames {
  readonly variables: Environment;
  /** Home folders by the names of users. */
  readonly homes: ReadonlyMap<string, string>;
}

/** Reads passwd(5). Other users, such as those of a network, are not known. */
async function homesOfUsers(): Promise<ReadonlyMap<string, string>> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  return new Map(
    lines.map((line) => line.split(':')).map(([name = '', , , , , home = '']) => [name, home]),
  );
}

/** What a value may stand for: as it is, with its variables, without quotes, and as an address. */
function readingsOf(text: string, known: KnownNames): string[] {
  const filled = filledIn(text, known);
  const readings = [
    text,
    ...filled.flatMap((one) => [one, one.replaceAll(/["']/g, ''), decoded(one)]),
  ];
  const local = readings.map((one) => one.replaceAll(WEB_HOST, 'web').replaceAll(FILE_HOST, ''));
  return [...new Set(local)];
}

/** With the values of its variables, and with their standards. */
function filledIn(text: string, { variables }: KnownNames): string[] {
  const fill = (choose: (value?: string, standard?: string) => string | undefined) =>
    text.replaceAll(
      VARIABLE,
      (given, bare, braced, standard) => choose(variables[bare ?? braced], standard) ?? given,
    );
  return [
    fill((value, standard) => value ?? standard),
    fill((value, standard) => standard ?? value),
  ];
}

/** `$NAME`, `${NAME}`, and `${NAME:-standard}` in all its forms. */
const VARIABLE = /\$(?:(\w+)|\{(\w+)(?::?[-=?+]([^{}]*))?\})/g;

/** Whether a path in it begins with something that only a shell works out: it may lead anywhere. */
function beginsUnread(text: string, known: KnownNames): boolean {
  return filledIn(text, known).some(
    (reading) =>
      UNREAD.test(reading) ||
      [...reading.matchAll(HOME_OF)].some(([, user = '']) => !known.homes.has(user)),
  );
}

const UNREAD = /(?:\$[A-Za-z_]\w*|\$\{[^}]*\}|\$\([^)]*\)|`[^`]+`)["']?\//;
const HOME_OF = /(?:^|[\s"'`=:;,|&<>()])~([A-Za-z_+-][\w.-]*)\//g;

/** Its path is none of this machine. */
const WEB_HOST = /\b(?:https?|wss?):\/\/[^/\s?#"']*/gi;

/** Its path is one of this machine, whatever name the address gives to the machine. */
const FILE_HOST = /\b(?:\w+\+)?file:\/\/[^/\s"']*(?=\/)/gi;

function decoded(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}

/** Every part of a value that a program may take for a path. */
function* pathsIn(text: string, known: KnownNames): Generator<string> {
  for (const reading of readingsOf(text, known)) {
    for (const part of new Set([
      reading,
      ...reading.split(/=(.*)/s),
      ...reading.split(SEPARATORS),
    ])) {
      // Short options may stand together, have numbers, and have their value behind them: `-0wI/lib`, `-Ilib`.
      const word = part.replace(/^-\w+(?=[./~])/, '');
      if (/^-\w/.test(part))
        for (let at = 2; at < part.length && at < MAX_OPTION_CHARS; at++) yield part.slice(at);
      if (word === '' || word.startsWith('-')) continue;
      if (MODULE.test(word)) yield word.replaceAll('.', '/');
      yield word.replace(
        /^~([^/]*)(?=\/|$)/,
        (given, user) => (user === '' ? known.variables['HOME'] : known.homes.get(user)) ?? given,
      );
    }
  }
}

/** Short options have few letters. */
const MAX_OPTION_CHARS = 32;

/** `python3 -m project.server` loads `project/server.py`. */
const MODULE = /^\w+(?:\.\w+)+$/;

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
