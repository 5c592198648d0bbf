/** A folder of configuration for one test. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

/** Writes config.json, if there is a configuration: a text as it is, anything else as JSON. */
export function newConfig(config?: unknown) {
  const home = temporaryFolder();
  const folder = join(home, 'drawbridge');
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'config.json');
  if (config !== undefined) {
    const text = typeof config === 'string' ? config : JSON.stringify(config);
    writeFileSync(path, text, { mode: 0o600 });
  }
  return { folder, path, env: { XDG_CONFIG_HOME: home } };
}
