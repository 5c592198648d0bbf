/** A server of `drawbridge` with a state of its own, and the commands of a person at it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findInstanceIn } from '../local/state/running.ts';
import { openTemporaryFolder } from './folder.ts';

export const DRAWBRIDGE = [
  process.execPath,
  join(import.meta.dirname, '..', 'bin', 'drawbridge.mjs'),
] as const;

/** Its end stops no server: `run('stop', folder)` does. */
export interface OwnServer extends Disposable {
  readonly environment: NodeJS.ProcessEnv;
  /** Makes a folder for a project. */
  newFolder(name: string): string;
  /** @throws with what the command says, if it fails. */
  run(command: 'start' | 'stop', folder: string): void;
  pid(): Promise<number>;
}

export function openOwnServer(): OwnServer {
  const home = openTemporaryFolder();
  const environment = {
    ...process.env,
    XDG_STATE_HOME: home.path,
    XDG_CONFIG_HOME: home.path,
    TERM: 'xterm',
    // A model is chosen, so that the first start has no question.
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  };
  return {
    environment,
    newFolder(name) {
      const path = join(home.path, name);
      mkdirSync(path);
      return path;
    },
    run(command, cwd) {
      const [program, script] = DRAWBRIDGE;
      const args = [script, command, ...(command === 'start' ? ['--port', '0'] : [])];
      const { status, stderr } = spawnSync(program, args, {
        cwd,
        env: environment,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(stderr);
    },
    async pid() {
      const instance = await findInstanceIn(join(home.path, 'drawbridge', 'server'));
      if (!instance) throw new Error('The server is gone.');
      return instance.pid;
    },
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}
