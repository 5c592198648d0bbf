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
  const read = async (key: string) => {
    const asked = ['-c', 'safe.directory=*', 'config', '--get', key];
    const [file = git, ...args] = [...account.prefix, git, ...asked];
    const env = { PATH: SYSTEM_PATH, HOME: account.home, LC_ALL: 'C' };
    const options = { cwd: folder, env, timeout: SANDBOX_LIMITS.probeMs };
    const { stdout } = await promisify(execFile)(file, args, options);
    return stdout.trim();
  };
  const [name, email] = await Promise.all(
    ['user.name', 'user.email'].map((key) => read(key).catch(() => '')), // Not set: git exits with 1.
  );
  return { name: name || UNKNOWN.name, email: email || UNKNOWN.email };
}

const UNKNOWN: Author = { name: 'Drawbridge', email: 'drawbridge@localhost' };
