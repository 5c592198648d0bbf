/** Tells of a newer version. Asks the npm registry at most once a day, and says nothing of this machine to it. */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { readSettings } from '../../local/config/settings.ts';
import { makePrivateFolders, readPlainFile, replaceFile } from '../../machine/private-files.ts';
import { readTextWithin } from '../../machine/short-answer.ts';
import { parseJson } from '../../shared/text/json.ts';
import { CLI_LIMITS } from '../limits.ts';

/** Only whole releases: the registry's `latest` is one. */
const Version = z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}$/);

/** The newest version of the last answer, and when the registry was last asked. */
const Kept = z.object({ askedMs: z.number(), latest: Version.optional() });
type Kept = z.infer<typeof Kept>;

export interface UpdateHint {
  readonly ownVersion: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a person reads stderr. */
  readonly isTerminal: boolean;
  readonly now: Date;
  write(text: string): void;
}

/**
 * Writes a line if the last answer named a newer version. Where a day has passed, asks again in the background, until
 * `signal` aborts; the next command tells the answer. Never throws.
 */
export async function tellOfUpdate(hint: UpdateHint, signal: AbortSignal): Promise<void> {
  try {
    if (!(await isWanted(hint))) return;
    const file = cacheFile(hint.env);
    const kept = await readKept(file);
    if (kept.latest !== undefined && isNewer(kept.latest, hint.ownVersion)) {
      hint.write(textOf(kept.latest, hint.ownVersion));
    }
    const askedMs = hint.now.getTime();
    // A clock that was put back does not stop the asking.
    if (Math.abs(askedMs - kept.askedMs) < CLI_LIMITS.updateMs) return;
    // Kept first: a registry that does not answer is not asked more often.
    keep(file, { ...kept, askedMs });
    askRegistry(hint.env, signal)
      .then((latest) => keep(file, { askedMs, latest }))
      .catch(() => {});
  } catch {
    // A hint that fails must not fail the command.
  }
}

async function isWanted({ env, isTerminal }: UpdateHint): Promise<boolean> {
  return isTerminal && !env['CI'] && (await readSettings(env)).updateHint;
}

function textOf(latest: string, own: string): string {
  return `drawbridge ${latest} is out, this is ${own}: npm install -g drawbridge (off: drawbridge config set updateHint false)\n`;
}

function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) =>
    text.split('.').map((part) => Number.parseInt(part, 10)),
  );
  const at = a?.findIndex((part, index) => part !== b?.[index]) ?? -1;
  return at >= 0 && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

/** `$XDG_CACHE_HOME/drawbridge/update.json`, else below `~/.cache`. */
function cacheFile({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  const isGiven = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME);
  return join(isGiven ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'drawbridge', 'update.json');
}

async function readKept(file: string): Promise<Kept> {
  try {
    return Kept.parse(JSON.parse(await readPlainFile(file)));
  } catch {
    return { askedMs: 0 };
  }
}

function keep(file: string, kept: Kept): void {
  makePrivateFolders(join(file, '..'));
  replaceFile(file, JSON.stringify(kept));
}

/** npm's own address of a package's tags. */
async function askRegistry(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(CLI_LIMITS.registryMs)]);
  const registry = await findRegistry(env, either);
  const url = `${registry.replace(/\/+$/, '')}/-/package/drawbridge/dist-tags`;
  const response = await fetch(url, {
    redirect: 'error',
    signal: either,
    headers: { accept: 'application/json' },
  });
  const text = await readTextWithin(response, CLI_LIMITS.maxRegistryChars);
  return z.object({ latest: Version }).parse(parseJson(text)).latest;
}

/** The registry that npm uses for this user. It is asked in the home folder: no workspace's `.npmrc` names another. */
async function findRegistry(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const get = ['config', 'get', 'registry'];
  const { stdout } = await promisify(execFile)('npm', get, { env, signal, cwd: homedir() });
  return z.url({ protocol: /^https?$/ }).parse(stdout.trim());
}
