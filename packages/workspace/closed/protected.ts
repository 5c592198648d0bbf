/** The paths that may not be changed, or not even read. File tools and sandbox both obey them. */
import { PROTECTED_IN_GITHUB, PROTECTED_KINDS } from './protected-kinds.ts';
import { BACKUP_ENDS, EXAMPLE_FILES, isOtherKind, SECRET_NAMES } from './secret-names.ts';

/** How a path is closed: a `protected` path may be read but not changed, a `secret` path neither. */
export type Closure = 'protected' | 'secret';

/**
 * How a path in a workspace is closed; null for an open one. `path` is relative, with `/` or the system's separator.
 */
export function closureOf(path: string): Closure | null {
  const names = namesIn(path);
  if (isSecret(names)) return 'secret';
  return isObeyed(names) ? 'protected' : null;
}

/** Whether such a path is a secret by its names: the quicker part of {@link closureOf}. */
export function isSecretPath(path: string): boolean {
  return isSecret(namesIn(path));
}

function isSecret(names: readonly string[]): boolean {
  const own = names.length - 1;
  const around = (at: number) => names[at - 1] ?? '';
  return (
    names.some((name, at) => isSecretFolder(around(at), name)) ||
    isSecretFile(around(own), names[own] ?? '')
  );
}

/** Whether a program obeys the path by its name. A secret path can be of that kind, too. */
export function isObeyedPath(path: string): boolean {
  return isObeyed(namesIn(path));
}

/**
 * How an entry of a folder of this name is closed, and whether a program obeys it. What closes the folder itself does
 * not count. A link `.github` is obeyed, because the names in its target do not show that they lie in a `.github`.
 */
export function closureOfEntry(
  folder: string,
  name: string,
  isLink: boolean,
): { readonly closure: Closure | null; readonly isObeyed: boolean } {
  const [around, own] = [foldName(folder), foldName(name)];
  const isObeyedEntry =
    (isLink && own === '.github') ||
    isProtectedIn(`${around}/${own}`) ||
    isObeyed(around === '.github' ? [around, own] : [own]);
  if (isSecretFolder(around, own) || isSecretFile(around, own))
    return { closure: 'secret', isObeyed: isObeyedEntry };
  return { closure: isObeyedEntry ? 'protected' : null, isObeyed: isObeyedEntry };
}

/** What makes git take a folder for a repository without a `.git` of its own, by their names. */
export function looksLikeRepository(names: Pick<ReadonlySet<string>, 'has'>): boolean {
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

/** The mark that the most forgiving file system would take a name for, as git spells it. */
export function repositoryMark(name: string): string | undefined {
  return MARKS_BY_FOLDED_NAME.get(foldName(name));
}

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

function namesIn(path: string): string[] {
  return path.split(/[/\\]/).map(foldName);
}

function isSecretFolder(around: string, name: string): boolean {
  return SECRET_FOLDERS.has(name) || SECRET_FOLDERS.has(`${around}/${name}`);
}

function isSecretFile(folder: string, given: string): boolean {
  const end = BACKUP_ENDS.find((each) => given.endsWith(each) && given.length > each.length);
  const name = end === undefined ? given : given.slice(0, -end.length);
  const isNamed = isSecretName(name) || isSecretIn(`${folder}/${name}`) || isSecretName(given);
  return isNamed && !isExampleName(name) && !isOtherKind(folder, name);
}

function isObeyed(names: readonly string[]): boolean {
  const isInGithub = names.some((name, at) => names[at - 1] === '.github' && IN_GITHUB.has(name));
  const isIn = names.some((name, at) => isProtectedIn(`${names[at - 1] ?? ''}/${name}`));
  return isInGithub || isIn || names.some(isProtected);
}

/** For each name and pattern of the table of secrets a path that it closes. */
export const EXAMPLE_SECRETS: readonly string[] = SECRET_NAMES.flatMap(({ names }) => names).map(
  (name) => name.replaceAll('*', 'x').replace(/\/$/, '/x'),
);

/** Whether the path is that of an example file, see {@link EXAMPLE_FILES}. */
export function isExample(path: string): boolean {
  return isExampleName(foldName(path.slice(path.lastIndexOf('/') + 1)));
}

const MARKS_BY_FOLDED_NAME = new Map([...REPOSITORY_MARKS].map((mark) => [foldName(mark), mark]));
const IN_GITHUB: ReadonlySet<string> = new Set(PROTECTED_IN_GITHUB);
const ALL_PROTECTED = PROTECTED_KINDS.flatMap(({ names }) => names);
const isProtected = anyOf(ALL_PROTECTED.filter((name) => !name.includes('/')));
const isProtectedIn = anyOf(ALL_PROTECTED.filter((name) => name.includes('/')));
const ALL_SECRETS = SECRET_NAMES.flatMap(({ names }) => names);
const SECRET_FOLDERS: ReadonlySet<string> = new Set(
  ALL_SECRETS.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1)),
);
const SECRET_FILES = ALL_SECRETS.filter((name) => !name.endsWith('/'));
const isSecretName = anyOf(SECRET_FILES.filter((name) => !name.includes('/')));
const isSecretIn = anyOf(SECRET_FILES.filter((name) => name.includes('/')));
const isExampleName = anyOf(EXAMPLE_FILES);

/**
 * Whether a name is one of these, or matches a pattern of these. A scan asks it about each name of a workspace, and one
 * expression of all patterns takes longer.
 */
function anyOf(names: readonly string[]): (name: string) => boolean {
  const whole = new Set(names.filter((name) => !name.includes('*')));
  const patterns = names
    .filter((name) => name.includes('*'))
    .map((pattern) => {
      const [start = '', ...others] = pattern.split('*');
      const end = others.pop() ?? '';
      return { start, middle: others, end, length: start.length + end.length };
    });
  return (name) =>
    whole.has(name) ||
    patterns.some(
      ({ start, middle, end, length }) =>
        name.length >= length &&
        name.startsWith(start) &&
        name.endsWith(end) &&
        middle.every((part) => name.slice(start.length, name.length - end.length).includes(part)),
    );
}
