/** Finds the folder of the owner's configuration. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * `$XDG_CONFIG_HOME/drawbridge`, else `~/.config/drawbridge`. It need not exist. Undefined without a home folder. The
 * XDG specification says to ignore relative paths.
 */
export function configFolder({ XDG_CONFIG_HOME }: NodeJS.ProcessEnv): string | undefined {
  if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return join(XDG_CONFIG_HOME, 'drawbridge');
  const home = homeFolder();
  return home && join(home, '.config', 'drawbridge');
}

/** `homedir` throws for a user without an entry in the system's list, as in some containers. */
function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}
