/** Reads the name and the address that the person's own git would commit with. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CommandUser } from '../account.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { findProgram, SYSTEM_PATH } from '../programs.ts';

export interface Author {
  readonly name: string;
  readonly email: string;
}

/** Drawbridge's own where git knows none. Git runs as the owner of `folder`, who may be another user than the bridge's. */
export async function readAuthor(
  folder: string,
  account: Pick<CommandUser, 'home' | 'prefix'>,
): Promise<Author> {
  const git = await findProgram('git');
  if (git === undefined) return UNKNOWN;
  const asked = ['-c', 'safe.directory=*', 'config', '-z', '--get-regexp', '^user\\.(name|email)$'];
  const [file = git, ...args] = [...account.prefix, git, ...asked];
  const env = { PATH: SYSTEM_PATH, HOME: account.home, LC_ALL: 'C' };
  const options = { cwd: folder, env, timeout: SANDBOX_LIMITS.probeMs };
  // Where neither is set, git exits with 1.
  const { stdout } = await promisify(execFile)(file, args, options).catch(() => ({ stdout: '' }));
  const set = lastValues(stdout);
  const [name, email] = ['user.name', 'user.email'].map((key) => set.get(key));
  return { name: name || UNKNOWN.name, email: email || UNKNOWN.email };
}

/** From `key\nvalue\0` for each line of the configuration: the last one counts. */
function lastValues(listed: string): ReadonlyMap<string, string> {
  const lines = listed.split('\0').map((line) => line.split('\n', 2));
  return new Map(lines.map(([key = '', value = '']) => [key, value.trim()]));
}

const UNKNOWN: Author = { name: 'Drawbridge', email: 'drawbridge@localhost' };
