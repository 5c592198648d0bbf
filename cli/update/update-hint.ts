/** Shows that there is a newer version. Asks the npm registry at most once a day, and says nothing of this machine to it. */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { readTextWithin } from '../../local/config/discover.ts';
import { readSettings } from '../../local/config/settings.ts';
import { makePrivateFolders, readPlainFile, replaceFile } from '../../machine/private-files.ts';
import { parseJson } from '../../shared/text/json.ts';
import { CLI_LIMITS } from '../limits.ts';

const PACKAGE = 'drawbridge-agent';

/** Only whole releases: the registry's `latest` is one. */
const Version = z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}$/);

/** The newest version of the last answer, and when the registry was last asked. */
const KeptHint = z.object({ askedMs: z.number(), latest: Version.optional() });
type KeptHint = z.infer<typeof KeptHint>;

export interface UpdateHint {
  readonly ownVersion: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a person reads stderr. */
  readonly isTerminal: boolean;
  readonly now: Date;
  write(text: string): void;
}

/** Writes a line if the last answer named a newer version; asks again in the background, once a day. Never throws. */
export async function tellOfUpdate(
  { ownVersion, env, isTerminal, now, write }: UpdateHint,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (!isTerminal || env['CI'] || !(await readSettings(env)).updateHint) return;
    const file = cacheFile(env);
    const { askedMs, latest } = await readKept(file);
    if (latest?.localeCompare(ownVersion, 'en', { numeric: true }) === 1) {
      const off = 'off: drawbridge config set updateHint false';
      write(`drawbridge ${latest} is out, this is ${ownVersion}: npm i -g ${PACKAGE} (${off})\n`);
    }
    // A clock that was put back does not stop the asking.
    if (Math.abs(now.getTime() - askedMs) < CLI_LIMITS.updateMs) return;
    const asked = { askedMs: now.getTime() };
    // Kept first: a registry that does not answer is not asked more often.
    keep(file, { ...asked, latest });
    askRegistry(env, signal)
      .then((answer) => keep(file, { ...asked, latest: answer }))
      .catch(() => {});
  } catch {
    // A hint that fails must not fail the command.
  }
}

/** `$XDG_CACHE_HOME/drawbridge/update.json`, else below `~/.cache`. */
function cacheFile({ XDG_CACHE_HOME = '' }: NodeJS.ProcessEnv): string {
  const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(cache, 'drawbridge', 'update.json');
}

async function readKept(file: string): Promise<KeptHint> {
  try {
    return KeptHint.parse(JSON.parse(await readPlainFile(file)));
  } catch {
    return { askedMs: 0 };
  }
}

function keep(file: string, kept: KeptHint): void {
  makePrivateFolders(dirname(file));
  replaceFile(file, JSON.stringify(kept));
}

/** By npm's own address of a package's tags, at the registry that npm uses for this user. */
async function askRegistry(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(CLI_LIMITS.registryMs)]);
  // It is asked in the home folder: no workspace's `.npmrc` names another.
  const options = { env, signal: either, cwd: homedir() };
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'], options);
  const registry = z.url({ protocol: /^https?$/ }).parse(stdout.trim());
  const response = await fetch(`${registry.replace(/\/+$/, '')}/-/package/${PACKAGE}/dist-tags`, {
    redirect: 'error',
    signal: either,
    headers: { accept: 'application/json' },
  });
  const text = await readTextWithin(response, CLI_LIMITS.maxRegistryChars);
  return z.object({ latest: Version }).parse(parseJson(text)).latest;
}
