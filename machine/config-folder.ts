/** Finds the folder of the owner's configuration. */
import { isAbsolute, join } from 'node:path';
import { findHome } from './home-folder.ts';

/** `$XDG_CONFIG_HOME/drawbridge`, else `~/.config/drawbridge`; undefined without a home. Relative paths are ignored. */
export function configFolder({ XDG_CONFIG_HOME }: NodeJS.ProcessEnv): string | undefined {
  if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return join(XDG_CONFIG_HOME, 'drawbridge');
  const home = findHome();
  return home && join(home, '.config', 'drawbridge');
}
