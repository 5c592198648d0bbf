/** The machine owner's decisions on what commands see: our state and configuration never, and the owner's own list. */

import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod';
import { configFolder } from '../../../machine/config-folder.ts';
import { sha256 } from '../../../machine/hash.ts';
import { readIfThere } from '../../../machine/private-files.ts';
import { DrawbridgeError, invalidRequest } from '../../../shared/errors.ts';
import { parseIfJson } from '../../../shared/text/json.ts';

const SandboxFile = z.strictObject({
  /** Files and folders that commands may read, and secrets of the workspace that tools may; absolute or with `~/`. */
  readable: z.array(z.string().regex(/^(?:\/|~\/)./)).max(100),
});

/**
 * The paths in `sandbox.json` of the state folder; none without the file. Those in the workspace have its real name in
 * front, however its owner came to it. A wrong file throws, because its owner meant something by it.
 */
export async function readReadable(
  stateDir: string,
  workspace: string,
): Promise<readonly string[]> {
  const path = join(stateDir, 'sandbox.json');
  const text = await readIfThere(path);
  if (text === undefined) return [];
  const { readable } = parse(text, path);
  const given = resolve(workspace);
  const real = await realpath(given).catch(() => given);
  return readable
    .map((name) => (name.startsWith('~/') ? join(homedir(), name.slice(2)) : name))
    .map((name) => (name.startsWith(`${given}/`) ? join(real, name.slice(given.length)) : name));
}

/**
 * The state folders of all instances: this one, those beside it, and those in the usual place; and the folder of
 * config.json, which names programs to run. A folder directly below `/` holds more than state, so it is not closed.
 */
export async function stateFolders(stateDir: string): Promise<readonly string[]> {
  const beside = dirname(stateDir);
  const own = dirname(beside) === '/' || beside === '/' ? stateDir : beside;
  const { XDG_STATE_HOME } = process.env;
  const base =
    XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(homedir(), '.local/state');
  const shared = join(base, 'drawbridge');
  // The shared server's folder can be a link to another disk.
  const usual = [shared, join(shared, 'server'), configFolder(process.env) ?? own];
  const real = await Promise.all(usual.map((path) => realpath(path).catch(() => own)));
  return [...new Set([own, ...real])];
}

function parse(text: string, path: string): z.infer<typeof SandboxFile> {
  const parsed = SandboxFile.safeParse(parseIfJson(text));
  if (parsed.success) return parsed.data;
  const { message } = invalidRequest(parsed.error);
  throw new DrawbridgeError('NOT_CONFIGURED', `${path} is not right: ${message}. ${FORM}`);
}

const FORM = 'Expected: {"readable":["~/.config/my-tool"]}';

/**
 * A folder of the state. For a bridge that root runs it lies where other users can enter it: its commands are another
 * user's.
 */
export function enteredFolder(stateDir: string, name: 'worktrees' | 'masks' | 'caches'): string {
  if (process.getuid?.() !== 0) return join(stateDir, name);
  const digest = sha256(stateDir).slice(0, 16);
  return join('/var/lib/drawbridge', name === 'worktrees' ? digest : `${digest}-${name}`);
}
