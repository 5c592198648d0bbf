/** Finds the folder of the owner's configuration. */
import { isAbsolute, join } from 'node:path';
import { findHome } from './home-folder.ts';

/**
 * `$XDG_CONFIG_HOME/drawbridge`, else `~/.config/drawbridge`. It need not exist. Undefined without a home folder. The
 * XDG specification says to ignore relative paths.
 */
export function configFolder({ XDG_CONFIG_HOME }: NodeJS.ProcessEnv): string | undefined {
  if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return join(XDG_CONFIG_HOME, 'drawbridge');
  const home = findHome();
  return home && join(home, '.config', 'drawbridge');
}
