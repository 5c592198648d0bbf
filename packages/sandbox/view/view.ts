/**
 * The part of the disk that commands see: the system's programs, the tools of the home folder, and the workspace.
 * Everything else does not exist for commands. The view is a list of arguments for bubblewrap; later arguments lie over
 * earlier ones.
 */
import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type BytePath, fromText, isBelow } from '../../../machine/byte-path.ts';
import { words } from '../../../machine/words.ts';
import type { ClosedEntry } from '../../workspace/index.ts';
import { type CommandUser, reachableBy } from '../account.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { MasksByPath } from './masks.ts';
import { type ProgramSecret, secretsAmongPrograms } from './program-secrets.ts';

export interface ViewOptions {
  readonly workspace: string;
  readonly account: CommandUser;
  /** The home folder of the bridge's user, which may be another user than the account. */
  readonly home: string;
  /** The `PATH` of commands. */
  readonly searchPath: string;
  /** Absolute paths that the machine's owner lets commands read. */
  readonly readable: readonly string[];
  /** Our own state folder, and those of other instances beside it. */
  readonly closedFolders: readonly string[];
}

/**
 * The view without the closed entries of the workspace, for which see {@link closeEntries}. The caller makes it once,
 * before the first command: the function looks up paths by name, and some lead through folders that commands may write
 * to.
 */
export async function systemView(options: ViewOptions): Promise<BytePath[]> {
  const { bound, secrets } = await boundPaths(options);
  const isShown = (path: string) =>
    [...SYSTEM_FOLDERS, ...bound.keys()].some((parent) => path === parent || isBelow(parent, path));
  const { closedFolders, workspace } = options;
  const hidden = closedFolders.filter(isShown).map((path) => hideIfAny(path, workspace));
  const closed = await allOf(hidden);
  return [
    ...(await allOf(SYSTEM_FOLDERS.map(systemFolder))),
    ...DEVICES.flatMap((path) => ['--dev-bind', path, path]),
    '--bind',
    '/proc',
    '/proc',
    ...['/tmp', '/var/tmp', '/run', options.account.home].flatMap((path) => ['--dir', path]),
    ...(await nameResolution()),
    ...[...bound].flatMap(([name, real]) => ['--ro-bind-try', real, name]),
    ...secrets.flatMap(({ path, isFolder }) => (isFolder ? hideFolder(path) : hideFile(path))),
    ...closed,
    '--bind',
    workspace,
    workspace,
  ].map(fromText);
}

/** The paths outside of the system's folders and the workspace that commands see, by all their names. */
export async function shownPaths(options: ViewOptions): Promise<string[]> {
  return [...(await boundPaths(options)).bound.keys()];
}

/** Bubblewrap makes the folders around all mounts on a disk of its own. This argument closes that disk at the end. */
export const SEAL = ['--remount-ro', '/'] as const;

/** Hides everything in the folder. Commands can go through it to a place `around` which it lies, and nowhere else. */
export function hideFolder(path: BytePath, { around = '' } = {}): string[] {
  const mode = isBelow(path, around) ? '0111' : '0000';
  return ['--size', String(SANDBOX_LIMITS.hiddenBytes), '--perms', mode, '--tmpfs', path];
}

/** Hides the file behind a device on a mount without devices: opening it is refused. */
function hideFile(path: BytePath): string[] {
  return ['--ro-bind', '/dev/null', path];
}

/**
 * The mounts that close entries of a workspace. Secrets that git tracks are closed by their masks. Links get no mount: a link leads either to an entry that is closed
 * itself, or to a place that other names reach as well.
 */
export function closeEntries(
  entries: readonly ClosedEntry[],
  masks: MasksByPath = new Map(),
): string[] {
  return entries.flatMap(({ path, closure, kind }) => {
    if (closure === 'protected') return ['--ro-bind', path, path];
    const mask = masks.get(path);
    if (mask !== undefined) return ['--ro-bind', mask.source, path];
    return kind === 'folder' ? hideFolder(path) : hideFile(path);
  });
}

/** Sorts entries outermost first, as mounts must be made, and drops entries inside a hidden folder. */
export function mountable(entries: readonly ClosedEntry[]): ClosedEntry[] {
  const hidden = entries.filter(({ closure, kind }) => closure === 'secret' && kind === 'folder');
  return entries
    .filter((entry) => !hidden.some(({ path }) => isBelow(path, entry.path)))
    .toSorted((a, b) => a.path.length - b.path.length);
}

/** Folders with programs. `/home`, `/root`, `/srv`, `/var`, `/mnt` and the like hold data of people and services. */
const SYSTEM_FOLDERS = words(`
  /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix/store /gnu/store /snap /var/lib/dpkg
  /run/current-system /sys/devices/system /sys/kernel/mm
`);

/**
 * The parts of the home folder that commands may read: toolchains, and caches without credentials. A tool whose folder
 * also holds its credentials is listed by its parts.
 */
const TOOL_FOLDERS = words(`
  .local/bin .local/lib .local/pipx .local/share/fnm .local/share/mise .local/share/pipx
  .local/share/pnpm .local/share/uv .local/share/virtualenvs .nvm .volta .fnm .nodenv .asdf
  .npm/_cacache .npm-global .cache/yarn .cache/node .yarn/berry/cache .bun/bin .bun/install/cache
  .deno/bin .cache/deno .pyenv .cache/pip .cache/uv .cache/pypoetry/virtualenvs .conda/envs
  .conda/pkgs miniconda3 anaconda3 miniforge3 .rbenv .rvm .gem/ruby .bundle/cache .cargo/bin
  .cargo/registry .cargo/git .cargo/env .rustup go/bin go/pkg .cache/go-build .goenv
  .sdkman/candidates .jenv .jdks .m2/repository .gradle/caches .gradle/wrapper .ivy2/cache
  .cache/coursier .nuget/packages .dotnet/sdk .dotnet/shared .dotnet/host .dotnet/dotnet
  .pub-cache .composer/cache .cache/composer .ghcup .cabal/packages .stack/programs .opam .elan
  .julia/packages .juliaup .linuxbrew .nix-profile .cache/ms-playwright .cache/puppeteer
`);

/** The same devices that bubblewrap gives to each command. */
const DEVICES = words('/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty');

async function systemFolder(path: string): Promise<string[]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return [];
  if (stats.isSymbolicLink()) return ['--symlink', await readlink(path), path];
  return ['--ro-bind', path, path];
}

/** Programs resolve host names by the host's own means. The configuration may lie in a folder that is not shown. */
async function nameResolution(): Promise<string[]> {
  const target = await realpath('/etc/resolv.conf').catch(() => '/etc/resolv.conf');
  return dirname(target) === '/etc' ? [] : ['--ro-bind-try', target, target];
}

/**
 * The existing paths among the tools, the search path and the owner's list, and the secrets in folders of the search
 * path. Maps each name to its real path, outermost first. The target of a link is included under its own name, too. A
 * folder of the search path that cannot be searched is left out.
 */
async function boundPaths(
  options: ViewOptions,
): Promise<{ bound: ReadonlyMap<string, string>; secrets: readonly ProgramSecret[] }> {
  const { account, searchPath, readable, workspace } = options;
  const homes = [...new Set([account.home, options.home])].filter((home) => home !== '/');
  const isTooWide = (path: string) =>
    [...homes, workspace].some((inner) => inner === path || isBelow(path, inner));
  const programs = programFolders(searchPath, homes);
  const wanted = [
    ...TOOL_FOLDERS.map((name) => join(account.home, name)),
    ...programs,
    ...readable,
  ];
  const around = new Set(enclosing(workspace, homes));
  const places = await Promise.all([...new Set([...wanted, ...around])].map(toPlace));
  const allowed = places
    .filter((place) => place !== undefined)
    .filter(({ name, real }) => {
      // Where the enclosing folder was a workspace once, a command may have made this link.
      if (around.has(name) && name !== real) return false;
      if (isBelow(workspace, name) || isBelow(workspace, real)) return false;
      return readable.includes(name) || !(isTooWide(name) || isTooWide(real));
    });
  const reachable = await reachableBy(account, new Set(allowed.map(({ real }) => real)));
  const byName = allowed
    .filter(({ real }) => reachable.has(real))
    .flatMap(({ name, real }) => [[name, real] as const, [real, real] as const]);
  const bound = new Map(byName.toSorted(([a], [b]) => a.length - b.length));
  const isKnown = (path: string) =>
    [...SYSTEM_FOLDERS, ...homes, ...readable].some((top) => path === top || isBelow(top, path));
  const secrets: ProgramSecret[] = [];
  for (const [name, real] of [...bound].filter(([name]) => programs.includes(name))) {
    if (isKnown(name) || isKnown(real)) continue;
    const found = await secretsAmongPrograms(real);
    for (const shown of new Set([name, real])) {
      if (found === undefined) bound.delete(shown);
      else secrets.push(...found.map((each) => ({ ...each, path: join(shown, each.path) })));
    }
  }
  return { bound, secrets };
}

/**
 * `/data/node/bin` brings the folders beside it that programs take their libraries from, and nothing else: the folder
 * around it can be a project with its secrets. In a home folder it stands for itself alone.
 */
function programFolders(searchPath: string, homes: readonly string[]): string[] {
  const folders = searchPath.split(':').filter((folder) => folder.startsWith('/'));
  return folders
    .map((folder) => resolve(folder))
    .flatMap((folder) => {
      const isAlone = homes.some((home) => isBelow(home, folder)) || !/\/s?bin$/.test(folder);
      return isAlone ? folder : [folder, ...BESIDE.map((name) => join(dirname(folder), name))];
    })
    .filter((folder) => folder !== '/');
}

/** By the standard of file systems (FHS), with the second name of `lib`. */
const BESIDE = words('bin lib lib64 libexec share');

/** For a workspace inside a larger repository: the names that git and Node look for in the enclosing folders. */
function enclosing(workspace: string, homes: readonly string[]): string[] {
  const paths: string[] = [];
  for (let folder = dirname(workspace); dirname(folder) !== folder; folder = dirname(folder)) {
    if (homes.includes(folder)) break;
    paths.push(...['.git', 'node_modules', 'package.json'].map((name) => join(folder, name)));
  }
  return paths;
}

async function toPlace(name: string): Promise<{ name: string; real: string } | undefined> {
  const real = await realpath(name).catch(() => undefined);
  return real === undefined ? undefined : { name, real };
}

async function hideIfAny(path: string, workspace: string): Promise<string[]> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() === true ? hideFolder(path, { around: workspace }) : [];
}

async function allOf(parts: readonly Promise<string[]>[]): Promise<string[]> {
  return (await Promise.all(parts)).flat();
}
