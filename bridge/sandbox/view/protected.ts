/** The paths that may not be changed, or not even read. File tools and sandbox both obey them. */
import { words } from '../words.ts';
import { PROTECTED_IN_GITHUB, PROTECTED_KINDS } from './protected-kinds.ts';

/** Folders that no file tool reads, at any depth: keys and credentials. */
export const SECRET_FOLDERS = ['.ssh', '.gnupg', '.aws', '.azure', '.kube'] as const;

/** Files that no file tool reads, at any depth; `*` stands for any characters of the name. */
export const SECRET_FILES = words(`
  .env .env.* .dev.vars .dev.vars.* .netrc _netrc .git-credentials .pgpass .pypirc .htpasswd
  id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk *.pem *.key *.p12 *.pfx *.ppk *.jks
  *.keystore *.kdbx
`);

/** Names of example files. They look like secrets but hold none: people copy them. */
export const EXAMPLE_FILES = ['*.example', '*.sample', '*.template', '*.dist'] as const;

/** How a path is closed: a `protected` path may be read but not changed, a `secret` path neither. */
export type Closure = 'protected' | 'secret';

/**
 * How a path in a workspace is closed; null for an open one. `path` is relative, with `/` or the system's separator.
 */
export function closureOf(path: string): Closure | null {
  const names = path.split(/[/\\]/).map(foldName);
  if (names.some((name) => SECRET_FOLDER_NAMES.has(name))) return 'secret';
  if (isSecretFile(names.at(-1) ?? '')) return 'secret';
  const isInGithub = names.some((name, at) => names[at - 1] === '.github' && IN_GITHUB.has(name));
  return isInGithub || names.some(isProtected) ? 'protected' : null;
}

/**
 * The same for an entry of a folder of this name. What closes the folder itself does not count. A link `.github` is
 * protected, because the names in its target do not show that they lie in a `.github`.
 */
export function closureOfEntry(folder: string, name: string, isLink: boolean): Closure | null {
  if (isLink && foldName(name) === '.github') return 'protected';
  return foldName(folder) === '.github' ? closureOf(`.github/${name}`) : closureOf(name);
}

/** What makes git take a folder for a repository without a `.git` of its own, by their names. */
export function looksLikeRepository(names: ReadonlySet<string>): boolean {
  return (
    names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')))
  );
}

/** What git obeys in such a folder. */
export const REPOSITORY_SETTINGS: ReadonlySet<string> = new Set([
  'config',
  'config.worktree',
  'commondir',
  'hooks',
]);

/** All of these names together. */
export const REPOSITORY_MARKS: ReadonlySet<string> = new Set([
  ...REPOSITORY_SETTINGS,
  'HEAD',
  'objects',
  'refs',
]);

/**
 * The name as the most forgiving file system would take it: case, composition, invisible characters and trailing dots
 * or spaces do not count. On a stricter file system this also refuses a few names that are only similar.
 */
function foldName(name: string): string {
  if (PLAIN_NAME.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/(?<=[^. ])[. ]+$/, '')
    .toLowerCase();
}

/** ASCII that ends with neither a dot nor a space, as nearly all names are. Only its case can count. */
const PLAIN_NAME = /^[!-~ ]*[!--/-~]$/;

function isSecretFile(name: string): boolean {
  return isSecretName(name) && !isExampleName(name);
}

/** Whether the path is that of an example file, see {@link EXAMPLE_FILES}. */
export function isExample(path: string): boolean {
  return isExampleName(foldName(path.slice(path.lastIndexOf('/') + 1)));
}

const SECRET_FOLDER_NAMES: ReadonlySet<string> = new Set(SECRET_FOLDERS);
const IN_GITHUB: ReadonlySet<string> = new Set(PROTECTED_IN_GITHUB);
const isProtected = anyOf(PROTECTED_KINDS.flatMap(({ names }) => names));
const isSecretName = anyOf(SECRET_FILES);
const isExampleName = anyOf(EXAMPLE_FILES);

/**
 * Whether a name is one of these, or matches a pattern of these, which has one `*`. A scan asks it about each name of a
 * workspace, and one expression of all patterns takes longer.
 */
function anyOf(names: readonly string[]): (name: string) => boolean {
  const whole = new Set(names.filter((name) => !name.includes('*')));
  const patterns = names
    .filter((name) => name.includes('*'))
    .map((pattern) => {
      const [start = '', end = ''] = pattern.split('*');
      return { start, end, length: start.length + end.length };
    });
  return (name) =>
    whole.has(name) ||
    patterns.some(
      ({ start, end, length }) =>
        name.length >= length && name.startsWith(start) && name.endsWith(end),
    );
}
