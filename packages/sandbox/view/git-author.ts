/** Reads the name and the address that the person's own git would commit with. */
import { printedBy } from '../../../machine/printed.ts';
import { findProgram, SYSTEM_PATH } from '../../../machine/programs.ts';
import type { CommandUser } from '../account.ts';
import { SANDBOX_LIMITS } from '../limits.ts';

export interface Author {
  readonly name: string;
  readonly email: string;
}

/**
 * Drawbridge's own where git knows none; undefined where git fails, for example at a mistake in the person's settings. Git
 * runs as the owner of `folder`, who may be another user than the bridge's.
 */
export async function readAuthor(
  folder: string,
  account: Pick<CommandUser, 'home' | 'prefix'>,
): Promise<Author | undefined> {
  const git = await findProgram('git');
  if (git === undefined) return UNKNOWN_AUTHOR;
  const asked = ['-c', 'safe.directory=*', 'config', '-z', '--get-regexp', '^user\\.(name|email)$'];
  const [file = git, ...args] = [...account.prefix, git, ...asked];
  const env = { PATH: SYSTEM_PATH, HOME: account.home, LC_ALL: 'C' };
  const how = { meant: [0, NEITHER_IS_SET], cwd: folder, env, timeout: SANDBOX_LIMITS.probeMs };
  const printed = await printedBy([file, ...args], how).catch(() => undefined);
  if (printed === undefined) return undefined;
  const set = lastValues(printed.output);
  const [name, email] = ['user.name', 'user.email'].map((key) => set.get(key));
  return { name: name || UNKNOWN_AUTHOR.name, email: email || UNKNOWN_AUTHOR.email };
}

/** The exit code of `git config` then. */
const NEITHER_IS_SET = 1;

/** From `key\nvalue\0` for each line of the configuration: the last one counts. */
function lastValues(listed: string): ReadonlyMap<string, string> {
  const lines = listed.split('\0').map((line) => line.split('\n', 2));
  return new Map(lines.map(([key = '', value = '']) => [key, value.trim()]));
}

/** Who commits where nothing else is known. */
export const UNKNOWN_AUTHOR: Author = { name: 'Drawbridge', email: 'drawbridge@localhost' };
