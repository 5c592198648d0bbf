/**
 * The package caches of a workspace's commands: a folder of the bridge's state that no other workspace's commands see.
 * Commands wrote all of it, so only commands of the agent read it: no setup, no server and no formatter does.
 */
import { chownSync, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { printedBy } from '../../../machine/printed.ts';
import type { CommandUser } from '../account.ts';
import { SANDBOX_LIMITS } from '../limits.ts';

/** Where commands see the folder. */
const PLACE = '/var/cache/drawbridge';

/** The folder of each tool, by the variable that leads the tool there. */
const TOOLS: Readonly<Record<string, string>> = {
  npm_config_cache: 'npm',
  npm_config_store_dir: 'pnpm',
  // pnpm 11 and later reads no other name of it.
  pnpm_config_store_dir: 'pnpm',
  YARN_CACHE_FOLDER: 'yarn',
  YARN_GLOBAL_FOLDER: 'yarn',
  PIP_CACHE_DIR: 'pip',
  UV_CACHE_DIR: 'uv',
  POETRY_CACHE_DIR: 'poetry',
  CARGO_HOME: 'cargo',
  GOMODCACHE: 'go-mod',
  GOCACHE: 'go-build',
  BUNDLE_USER_CACHE: 'bundle',
  // RubyGems installs where it says, and keeps the index there that it has read.
  GEM_HOME: 'gem',
  GEM_SPEC_CACHE: 'gem-specs',
};

/** The variables of tools that fail where they cannot write there, also without the network. */
const NEEDED: ReadonlySet<string> = new Set(['GOCACHE', 'GEM_HOME']);

/**
 * Makes the folder. With `mayEmpty`, while no command runs, empties one that has grown too large. Undefined where it cannot be
 * made: then commands have no caches.
 */
export async function prepareCaches(
  folder: string,
  { uid, gid, prefix }: CommandUser,
  { mayEmpty, maxKib = SANDBOX_LIMITS.maxCacheKib }: { mayEmpty: boolean; maxKib?: number },
): Promise<string | undefined> {
  try {
    if (mayEmpty && (await sizeKib(folder, prefix)) > maxKib) await removeAs(folder, prefix);
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (prefix.length > 0) chownSync(folder, uid, gid);
    const made = lstatSync(folder);
    return made.isDirectory() && made.uid === uid ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Commands may have made any name in it, so the programs that look at it have no more rights than commands. Zero for one
 * that is not there, or that cannot be measured this time; infinite for one with a part that commands have locked, which
 * could grow unseen.
 */
async function sizeKib(folder: string, prefix: readonly string[]): Promise<number> {
  const measure = ['/usr/bin/du', '-sk', '--', folder];
  const measured = await asUser(prefix, measure, [0, SOME_UNREADABLE]).catch(() => undefined);
  const kib = Number.parseInt(measured?.output ?? '', 10) || 0;
  return kib > 0 && measured?.code === SOME_UNREADABLE ? Number.POSITIVE_INFINITY : kib;
}

/** The exit code of du(1), which then counts the rest. */
const SOME_UNREADABLE = 1;

/** Go's modules are read-only folders. */
async function removeAs(folder: string, prefix: readonly string[]): Promise<void> {
  const script = 'chmod -R u+rwx -- "$1" 2>/dev/null; /usr/bin/find "$1" -mindepth 1 -delete';
  await asUser(prefix, ['/bin/sh', '-c', script, 'sh', folder]);
}

async function asUser(prefix: readonly string[], argv: readonly string[], meant = [0]) {
  const [program = '', ...args] = [...prefix, ...argv];
  const env = { PATH: '/usr/bin:/bin' };
  return await printedBy([program, ...args], {
    meant,
    cwd: '/',
    env,
    timeout: SANDBOX_LIMITS.measureMs,
  });
}

/** The arguments for bubblewrap by which commands see the folder. */
export function cacheMount(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--bind', folder, PLACE];
}

/** Covers the mount for a program that must not see it. */
export function cacheCover(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--tmpfs', PLACE, '--remount-ro', PLACE];
}

/**
 * The variables that lead tools to their caches: of all tools for a command that may download; for any other, of tools
 * that need one and of those whose cache was begun. Until then a tool reads the cache of the person's home folder, which
 * it cannot write to.
 */
export function cacheVariables(
  folder: string | undefined,
  { mayDownload }: { readonly mayDownload: boolean },
): Record<string, string> {
  if (folder === undefined) return {};
  const used = Object.entries(TOOLS).filter(
    ([variable, name]) => mayDownload || NEEDED.has(variable) || existsSync(join(folder, name)),
  );
  return Object.fromEntries(used.map(([variable, name]) => [variable, join(PLACE, name)]));
}
