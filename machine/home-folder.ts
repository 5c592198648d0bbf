/** Finds the home folder of the user who runs the program. */
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/** The home folder of a user who has none, as Debian has it for `nobody`. */
const NO_HOME = '/nonexistent';

/**
 * Sees to it that `homedir` gives an absolute path in this process. An empty or relative HOME counts as unset, because
 * it would mean another place in each folder. A user without an entry in the system's list, as in some containers, gets
 * a folder that is not there. Called once, at the start.
 */
export function settleHome(env: NodeJS.ProcessEnv): void {
  const { HOME } = env;
  if (HOME !== undefined && isAbsolute(HOME)) return;
  delete env['HOME'];
  try {
    homedir();
  } catch {
    env['HOME'] = NO_HOME;
  }
}

/** The home folder; undefined for a user who has none. */
export function findHome(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) && home !== NO_HOME ? home : undefined;
  } catch {
    return undefined;
  }
}
