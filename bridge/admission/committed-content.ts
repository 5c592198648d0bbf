/**
 * Finds git commands that print committed content of files which are closed to commands, as far as the line shows it.
 * The objects of a repository hold every file that was committed, and the sandbox cannot close one of them. A line that
 * is not known to print none counts as one that prints it.
 */
import { dirname, resolve } from 'node:path';
import type { ClosedToGit } from '../../packages/workspace/index.ts';
import { type Command, type CommandLine, parseCommandLine } from './command-line.ts';
import { revealOfGit, splitAtLine } from './git-commands.ts';
import { programsOf, type RunProgram } from './readings.ts';
import { RULE_LIMITS } from './shell/limits.ts';

/** What the commands of a line may print, each in one sentence for the person. */
export function revealsIn(
  text: string,
  { commands, isWhole }: CommandLine,
  closed: ClosedToGit,
): ReadonlyMap<Command, string> {
  const found = new Map<Command, string>();
  if (!/git/i.test(text)) return found;
  const read = commands.map((command) => ({ command, programs: programsOf(command) }));
  const places = {
    folders: foldersIn(
      read.flatMap(({ programs }) => programs ?? []),
      text,
      closed,
    ),
    isElsewhere: /\bGIT_(?:DIR|WORK_TREE)=/.test(text),
    isSetUp: [...text.matchAll(VARIABLE)].some(([found]) => !HARMLESS_VARIABLE.test(found)),
  };
  for (const { command, programs } of read) {
    const isTangled = programs === undefined || !isWhole;
    const mayPrint = isTangled && /git/i.test(command.text) && closesAny(places, closed);
    const reveal =
      (programs ?? []).map((program) => revealOf(program, places, closed, 0)).find(isText) ??
      (mayPrint ? `This line is too complex to read, and git ${OF_CLOSED}` : undefined);
    if (reveal !== undefined) found.set(command, reveal);
  }
  return found;
}

const isText = (value: string | undefined) => value !== undefined;

const OF_CLOSED = 'can print what was committed of closed files.';

interface GitPlaces {
  /** Where it may run. */
  readonly folders: readonly string[];
  /** Whether it works on another folder than the repository's. */
  readonly isElsewhere: boolean;
  /** Whether it has a setting that may make it print more. */
  readonly isSetUp: boolean;
}

const VARIABLE = /\bGIT_\w+=(?:"[^"]*"|'[^']*'|[^\s"';&|]*)/g;

/** See git(1). Others can name a program or give settings. */
const HARMLESS_VARIABLE = new RegExp(
  [
    /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|CEILING_DIRECTORIES|TERMINAL_PROMPT|OPTIONAL_LOCKS)=/,
    /^GIT_(?:AUTHOR|COMMITTER|TRACE|HTTP|LFS)\w*=/,
    /^GIT_(?:SSH_COMMAND|ASKPASS|MERGE_AUTOEDIT|CONFIG_NOSYSTEM|NO_REPLACE_OBJECTS)=/,
    /^GIT_CONFIG_(?:GLOBAL|SYSTEM)=["']?\/dev\/null["']?$/,
    /^GIT_(?:PAGER|EDITOR|SEQUENCE_EDITOR)=["']?(?:cat|true|:)?["']?$/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/**
 * Where a command of the line may run: what `cd` and variables of git name, one after the other and each from the
 * first.
 */
function foldersIn(
  programs: readonly RunProgram[],
  text: string,
  { folder }: ClosedToGit,
): readonly string[] {
  const moves = programs
    .filter(({ name }) => name === 'cd' || name === 'pushd')
    .flatMap(({ args }) => args.filter((arg) => !/^-./.test(arg)).slice(0, 1));
  const named = [...text.matchAll(/\bGIT_(?:DIR|WORK_TREE|COMMON_DIR)=["']?([^\s"';&|]+)/g)];
  const found = new Set([folder]);
  const all = [...moves, ...named.map(([, path = '']) => path)].slice(0, RULE_LIMITS.maxMoves);
  for (const [at] of all.entries()) {
    let place = folder;
    for (const move of all.slice(at)) {
      place = resolve(place, move);
      found.add(place);
    }
  }
  return [...found];
}

function revealOf(
  { name, args, before }: RunProgram,
  around: GitPlaces,
  closed: ClosedToGit,
  depth: number,
): string | undefined {
  const program = name.toLowerCase().replace(/\.exe$/, '');
  const isGit = program === 'git';
  if (!isGit && !program.startsWith('git-')) return undefined;
  if (around.folders.length > RULE_LIMITS.maxGitPlaces)
    return `This line is too complex: git ${OF_CLOSED}`;
  const folders = around.folders.flatMap((folder) => [
    folder,
    // A word that may name its folder: `env -C lib`, `env GIT_DIR=lib/.git`, `sudo --chdir=lib`.
    ...before.map((word) => resolve(folder, word.slice(word.indexOf('=') + 1))),
  ]);
  const places = { ...around, folders };
  // Its operands are those that another program prints.
  const fed = before.some((word) => /(?:^|\/)(?:xargs|parallel)$/.test(word)) ? ['$fed'] : [];
  const read = isGit
    ? readGit([...args, ...fed], places)
    : { ...places, command: program.slice('git-'.length), rest: [...args, ...fed] };
  const { command, rest } = read;
  if (command === undefined) return undefined;
  const { own, line } = splitAtLine(command, rest);
  const inner = line === undefined ? undefined : revealOfLine(line, read, closed, depth);
  if (inner !== undefined) return inner;
  const reveals = revealOfGit(command, own, { fillsElsewhere: read.isElsewhere });
  const reveal = read.isSetUp ? 'all' : reveals;
  if (reveal === 'nothing') return undefined;
  const paths = own.flatMap(pathsIn);
  const isLong = Math.max(paths.length, read.folders.length) > RULE_LIMITS.maxGitPlaces;
  if (isLong) return `git ${command} ${OF_CLOSED}`;
  const bases = withParents(read.folders, closed);
  const shown = `git ${command} can print what was committed of`;
  const isNamed = (path: string) => bases.some((base) => closed.hides(resolve(base, path)));
  const named = paths.find(isNamed);
  if (named !== undefined) return `${shown} ${named}.`;
  if (reveal === 'brief') return undefined;
  // The first operand of `git grep` is what it searches for.
  const operand = command === 'grep' ? own.findIndex((word) => !/^-./.test(word)) : -1;
  const patterns = own.slice(operand + 1).flatMap(pathsIn);
  const pattern = patterns
    .filter((path) => PATTERN.test(path))
    .find((path) => bases.some((base) => closed.hidesSome(base, path)));
  if (pattern !== undefined) return `${shown} a closed file that ${pattern} matches.`;
  if (reveal === 'named' && !own.some((word) => UNKNOWN.test(word))) return undefined;
  return closesAny(read, closed) ? `git ${command} ${OF_CLOSED}` : undefined;
}

function revealOfLine(
  line: string,
  places: GitPlaces,
  closed: ClosedToGit,
  depth: number,
): string | undefined {
  if (depth === RULE_LIMITS.maxNesting) return undefined;
  return parseCommandLine(line)
    .commands.flatMap((command) => programsOf(command) ?? [])
    .map((program) => revealOf(program, places, closed, depth + 1))
    .find(isText);
}

/** As far as the bridge knows. */
function closesAny({ folders }: GitPlaces, closed: ClosedToGit): boolean {
  return closed.closesIn([closed.root, ...folders]);
}

/** The words of `git`. */
interface ReadGit extends GitPlaces {
  readonly command: string | undefined;
  readonly rest: readonly string[];
}

/** See git(1). Git refuses an option that it does not know. */
function readGit(args: readonly string[], around: GitPlaces): ReadGit {
  let { folders, isSetUp } = around;
  const named: string[] = [];
  const places = () => ({
    folders: folders.flatMap((folder) => [folder, ...named.map((path) => resolve(folder, path))]),
    isElsewhere: around.isElsewhere || named.length > 0,
    isSetUp,
  });
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    const [, name = word, glued] = /^(--[^=]+)=([\s\S]*)$/.exec(word) ?? [];
    if (!/^-./.test(word)) {
      return { command: word, rest: args.slice(at + 1), ...places() };
    }
    if (/^-[^-]./.test(word)) break;
    const value = glued ?? (WITH_VALUE.has(name) ? args[++at] : undefined);
    if (value === undefined) continue;
    if (name === '-C') folders = folders.map((folder) => resolve(folder, value));
    if (name === '--git-dir' || name === '--work-tree') named.push(value);
    isSetUp ||= (name === '-c' || name === '--config-env') && !HARMLESS_SETTING.test(value);
  }
  return { command: undefined, rest: [], ...places() };
}

const WITH_VALUE: ReadonlySet<string> = new Set(
  '-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source'.split(' '),
);

/** `name=value`. Others can name a program, an alias or a form of a patch. */
const HARMLESS_SETTING = new RegExp(
  [
    /^(?:color|advice|user|author|committer|safe|init|gc|maintenance|http|protocol)\./,
    /^(?:push|fetch|pull|url|branch)\./,
    /^core\.(?:quotepath|hookspath|autocrlf|filemode|longpaths|untrackedcache|abbrev)(?:=|$)/,
    /^core\.(?:pager|editor)=(?:cat|less|true|:)?$/,
    /^core\.fsmonitor=(?:false|0)?$/,
    /^(?:commit\.gpgsign|tag\.gpgsign|diff\.renames|diff\.renamelimit)(?:=|$)/,
    /^(?:merge\.conflictstyle|rebase\.autostash|log\.date)(?:=|$)/,
    /^credential\.helper=(?!!)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/**
 * A path can be meant from the folder, or from the top of its repository, which is the workspace or lies between. Links
 * are followed, too.
 */
function withParents(folders: readonly string[], { root, realOf }: ClosedToGit): string[] {
  const found = new Set([root]);
  for (const folder of folders.flatMap((each) => [each, realOf(each)])) {
    for (let at = folder; at.startsWith(`${root}/`) && !found.has(at); at = dirname(at)) {
      found.add(at);
    }
  }
  return [...found];
}

/** A word can be a path, and a path can follow a commit (`HEAD:a`), the stage of an index (`:0:a`) or an option. */
function pathsIn(word: string): readonly string[] {
  if (EXCLUDING.test(word)) return [];
  const bare = word.replace(/^:[/!^]+/, '');
  const parts = bare.split(/[:=)]/).slice(-RULE_LIMITS.maxPathParts);
  return parts.map((_, at) => parts.slice(at).join(':')).filter((path) => /^[^-]/.test(path));
}

/** See "pathspec" of gitglossary(7). */
const EXCLUDING = /^:(?:[/]?[!^]|\([^)]*exclude)/;
const PATTERN = /[*?[\\]/;

/** What only a shell, git or another program can work out. */
const UNKNOWN = /[*?[\\$`]|\{\}|^:[(/]/;
