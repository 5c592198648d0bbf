/**
 * What commands see of the disk: the system's programs, the tools of the home folder, and the workspace. Everything
 * else does not exist for them. Made of arguments for bubblewrap; later ones lie over earlier ones.
 */
import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Account, reachableBy } from './account.ts';
import { type BytePath, fromText, isBelow } from './byte-path.ts';
import { TOOL_FOLDERS } from './home-tools.ts';
import { SANDBOX_LIMITS } from './limits.ts';
import type { ClosedEntry } from './scan.ts';

export interface ViewOptions {
  readonly workspace: string;
  readonly account: Account;
  /** The bridge's, which may be another user's than the account's. */
  readonly home: string;
  /** The `PATH` of commands. */
  readonly searchPath: string;
  /** Absolute paths that the owner lets commands read. */
  readonly readable: readonly string[];
  /** Our own state, and that of other instances beside it. */
  readonly closedFolders: readonly string[];
}

/**
 * The view without anything that is closed in the workspace: see {@link closeEntries}. To be made before the first
 * command, and once: what it binds is found by names, some of which lead through folders that commands may write to.
 */
export async function systemView(options: ViewOptions): Promise<BytePath[]> {
  const bound = await boundPaths(options);
  const isShown = (path: string) =>
    [...SYSTEM_FOLDERS, ...bound.keys()].some((parent) => path === parent || isBelow(parent, path));
  const closed = await allOf(options.closedFolders.filter(isShown).map(hideIfAny));
  return [
    ...(await allOf(SYSTEM_FOLDERS.map(systemFolder))),
    ...DEVICES.flatMap((path) => ['--dev-bind', path, path]),
    ...['--bind', '/proc', '/proc'],
    ...['/tmp', '/var/tmp', '/run', options.account.home].flatMap((path) => ['--dir', path]),
    ...(await nameResolution()),
    ...[...bound].flatMap(([name, real]) => ['--ro-bind-try', real, name]),
    ...closed,
    ...['--bind', options.workspace, options.workspace],
  ].map(fromText);
}

/** The folders around all mounts are made by bubblewrap on a disk of its own, which is closed when all are there. */
export const SEAL = ['--remount-ro', '/'] as const;

/** Nothing of the folder can be seen. */
export function hideFolder(path: BytePath): string[] {
  return ['--size', String(SANDBOX_LIMITS.hiddenBytes), '--perms', '0000', '--tmpfs', path];
}

/** A device on a mount without devices: opening it is refused. */
export function hideFile(path: BytePath): string[] {
  return ['--ro-bind', '/dev/null', path];
}

/**
 * The mounts that close entries of a workspace, and nothing twice: what lies in a hidden folder is hidden. Links are
 * left: whoever follows one comes to what is closed there itself, or to what any other name leads to as well.
 */
export function closeEntries(entries: readonly ClosedEntry[]): string[] {
  return entries.flatMap(({ path, closure, kind }) => {
    if (closure === 'protected') return ['--ro-bind', path, path];
    return kind === 'folder' ? hideFolder(path) : hideFile(path);
  });
}

/** Outermost first, as mounts must be made, and without what lies in a hidden folder. */
export function mountable(entries: readonly ClosedEntry[]): ClosedEntry[] {
  const hidden = entries.filter(({ closure, kind }) => closure === 'secret' && kind === 'folder');
  return entries
    .filter((entry) => !hidden.some(({ path }) => isBelow(path, entry.path)))
    .toSorted((a, b) => a.path.length - b.path.length);
}

/** What programs are made of. `/home`, `/root`, `/srv`, `/var`, `/mnt` and the like hold people's and services' data. */
const SYSTEM_FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix/store',
  '/gnu/store',
  '/snap',
  '/var/lib/dpkg',
  '/run/current-system',
  '/sys/devices/system',
  '/sys/kernel/mm',
] as const;

/** Those that bubblewrap gives to each command. */
const DEVICES = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
  '/dev/tty',
] as const;

async function systemFolder(path: string): Promise<string[]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return [];
  if (stats.isSymbolicLink()) return ['--symlink', await readlink(path), path];
  return ['--ro-bind', path, path];
}

/** Names are looked up by the host's own means, and their configuration may lie in a folder that is not shown. */
async function nameResolution(): Promise<string[]> {
  const target = await realpath('/etc/resolv.conf').catch(() => '/etc/resolv.conf');
  return dirname(target) === '/etc' ? [] : ['--ro-bind-try', target, target];
}

/**
 * What exists of the tools, the search path and the owner's list: where each name leads, by name, outermost first. A
 * place that a link leads to is there under its own name, too.
 */
async function boundPaths(options: ViewOptions): Promise<Map<string, string>> {
  const { account, searchPath, readable, workspace } = options;
  const homes = [...new Set([account.home, options.home])].filter((home) => home !== '/');
  const isTooWide = (path: string) =>
    [...homes, workspace].some((inner) => inner === path || isBelow(path, inner));
  const wanted = [
    ...TOOL_FOLDERS.map((name) => join(account.home, name)),
    ...programFolders(searchPath, homes),
    ...readable,
  ];
  const around = new Set(enclosing(workspace, homes));
  const places = await Promise.all([...new Set([...wanted, ...around])].map(toPlace));
  const allowed = places
    .filter((place) => place !== undefined)
    .filter(({ name, real }) => {
      // Where the folder around was a workspace once, a command of its may have made the link.
      if (around.has(name) && name !== real) return false;
      if (isBelow(workspace, name) || isBelow(workspace, real)) return false;
      return readable.includes(name) || !(isTooWide(name) || isTooWide(real));
    });
  const reachable = await reachableBy(account, new Set(allowed.map(({ real }) => real)));
  const byName = allowed
    .filter(({ real }) => reachable.has(real))
    .flatMap(({ name, real }) => [[name, real] as const, [real, real] as const]);
  return new Map(byName.toSorted(([a], [b]) => a.length - b.length));
}

/**
 * `/data/go/bin` stands for all of `/data/go`, since programs need the libraries beside them; in a home folder, where
 * credentials lie beside them too, for itself alone.
 */
function programFolders(searchPath: string, homes: readonly string[]): string[] {
  const folders = searchPath.split(':').filter((folder) => folder.startsWith('/'));
  return folders
    .map((folder) => resolve(folder))
    .map((folder) => {
      const isAtHome = homes.some((home) => isBelow(home, folder));
      return !isAtHome && /\/s?bin$/.test(folder) ? dirname(folder) : folder;
    })
    .filter((folder) => folder !== '/');
}

/** Of the folders around a workspace that is a part of a repository: what git and Node look for in them. */
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

async function hideIfAny(path: string): Promise<string[]> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() === true ? hideFolder(path) : [];
}

async function allOf(parts: readonly Promise<string[]>[]): Promise<string[]> {
  return (await Promise.all(parts)).flat();
}
