/** Finds the hooks that people have for other programs, and compares them with what the owner has trusted. */
import { homedir } from 'node:os';
import { join, posix } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import { requireOwnersFile } from '../../machine/owners-file.ts';
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { readPart, type Workspace } from '../../packages/workspace/index.ts';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import { FORMATS, type FormatName, type Hook, type HookFile, type IdleHook } from './formats.ts';
import { HOOK_LIMITS } from './limits.ts';
import { readTrusted, type Trusted } from './trust.ts';

/** Where hooks are looked for. */
export interface HookPlace {
  readonly workspace: Workspace;
  readonly stateDir: string;
  readonly home?: string | undefined;
}

/** A hook with what it runs, and whether it may. */
export interface FoundHook {
  readonly hook: Hook;
  /** Of the definition and of the files that its command names, as they are now. */
  readonly digest: string;
  readonly isTrusted: boolean;
  /** The files that its command names. */
  readonly files: readonly string[];
}

export interface FoundHooks {
  readonly hooks: readonly FoundHook[];
  readonly idle: readonly IdleHook[];
  /** Hooks that the owner has trusted and that are not there any more as they were. */
  readonly missing: readonly Trusted[];
  /** Files that cannot be read, each with its reason. */
  readonly broken: readonly { readonly source: string; readonly reason: string }[];
}

/** Reads everything anew: a changed file counts at once. Throws where the owner's answer cannot be read. */
export async function findHooks(place: HookPlace): Promise<FoundHooks> {
  const trusted = await readTrusted(place.stateDir);
  const broken: { source: string; reason: string }[] = [];
  const files: HookFile[] = [];
  for (const [name, source, read] of filesOf(place)) {
    try {
      const text = await read();
      if (text !== undefined) files.push(FORMATS[name].read(source, text));
    } catch (error) {
      const reason = error instanceof ToolFailure ? error.message : 'it is not in its form';
      broken.push({ source, reason });
    }
  }
  const every = files.flatMap(({ hooks }) => hooks);
  const all = every.slice(0, HOOK_LIMITS.maxHooks);
  const rest = every.slice(HOOK_LIMITS.maxHooks);
  const known = new Set(trusted.map(({ digest }) => digest));
  const hooks = await Promise.all(all.map((hook) => found(hook, place, known)));
  const present = new Set(hooks.map(({ digest }) => digest));
  return {
    hooks,
    idle: [
      ...files.flatMap(({ idle }) => idle),
      ...rest.map(({ source, event }) => ({ source, event, reason: TOO_MANY })),
    ],
    missing: trusted.filter(({ digest }) => !present.has(digest)),
    broken,
  };
}

const TOO_MANY = `only ${HOOK_LIMITS.maxHooks} hooks are read`;

type FileToRead = readonly [FormatName, source: string, read: () => Promise<string | undefined>];

function filesOf({ workspace, home = homedir() }: HookPlace): FileToRead[] {
  const names = Object.keys(FORMATS) as FormatName[];
  return names.flatMap((name) => [
    ...FORMATS[name].files.map((path): FileToRead => [name, path, () => readOf(workspace, path)]),
    ...FORMATS[name].owners.map(
      (path): FileToRead => [name, `~/${path}`, () => readOwners(join(home, path))],
    ),
  ]);
}

async function found(
  hook: Hook,
  { workspace, home = homedir() }: HookPlace,
  trusted: ReadonlySet<string>,
): Promise<FoundHook> {
  const named = namedIn(hook.command);
  const read = await Promise.all(
    named.map(async (path) => [path, await contentOf(path, workspace, home)] as const),
  );
  const contents = read.filter(([, content]) => content !== undefined);
  const digest = sha256(canonicalJson({ hook, files: Object.fromEntries(contents) }));
  const files = contents.map(([path]) => path);
  return { hook, digest, isTrusted: trusted.has(digest), files };
}

/** The words of a command that can be files: relative to the workspace, or with `~`. */
function namedIn(command: string): string[] {
  const words = command
    .replaceAll(/"?\$\{?(?:CLAUDE|CURSOR)_PROJECT_DIR\}?"?\//g, './')
    .replaceAll(/\$\{?HOME\}?\//g, '~/')
    .split(/[\s"'`;|&()<>=]+/);
  const paths = words.filter((word) => /[/.]/.test(word) && !word.startsWith('-'));
  return [...new Set(paths.map((path) => posix.normalize(path)))].slice(0, HOOK_LIMITS.maxFiles);
}

/** The digest of a file, or why it has none; undefined where there is no such file. */
async function contentOf(
  path: string,
  workspace: Workspace,
  home: string,
): Promise<string | undefined> {
  try {
    const text = path.startsWith('~/')
      ? await readPlainFile(join(home, path.slice(2)))
      : await readOf(workspace, path);
    return text === undefined ? undefined : sha256(text);
  } catch (error) {
    if (error instanceof ToolFailure) return error.code;
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    return 'UNREADABLE';
  }
}

/** Undefined for a file that is not there. Throws a ToolFailure for any other that cannot be read whole. */
async function readOf(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    const place = await workspace.resolve(path, 'read');
    const length = HOOK_LIMITS.maxFileBytes;
    const bytes = await readPart(place, { offset: 0, length: length + 1 });
    if (bytes.length > length) throw new ToolFailure('FILE_TOO_LARGE', 'it is too large');
    return new TextDecoder().decode(bytes);
  } catch (error) {
    const isMissing =
      error instanceof ToolFailure && ['FILE_NOT_FOUND', 'NOT_A_FOLDER'].includes(error.code);
    if (isMissing) return undefined;
    throw error;
  }
}

async function readOwners(path: string): Promise<string | undefined> {
  try {
    const text = await readPlainFile(path);
    await requireOwnersFile(path);
    return text;
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw new ToolFailure('NOT_PERMITTED', 'it cannot be read, or other users may change it');
  }
}
