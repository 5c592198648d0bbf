/** The server in the background, with a home and folders of its own, ended when the test has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { processesWith } from '../../local/processes.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';
import { type Finished, runDrawbridge } from '../drawbridge.ts';

export interface Background {
  readonly serverDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command in a folder. */
  run(folder: string, args: string[], env?: NodeJS.ProcessEnv): Promise<Finished>;
  /** The process of the server that runs, or ran last. */
  pid(): number;
  status(): Promise<Status>;
  /** Every process of the server but those of its bridges. */
  processes(): ReturnType<typeof processesWith>;
}

export interface Status {
  readonly running: boolean;
  readonly url: string;
  readonly pid: number;
  readonly started: string;
  readonly projects: {
    readonly workspaceDir: string;
    readonly bridge: { readonly state: string };
  }[];
  readonly notices: { readonly text: string }[];
}

/** Commands that start a process which outlives them. */
const OUTLIVED: ReadonlySet<string | undefined> = new Set(['start', 'up']);

export function newBackground(): Background {
  const home = temporaryFolder();
  const serverDir = join(home, 'drawbridge', 'server');
  const env = { XDG_STATE_HOME: home, XDG_CONFIG_HOME: home };
  const run = (folder: string, args: string[], more: NodeJS.ProcessEnv = {}) =>
    (OUTLIVED.has(args[0]) ? runDrawbridge : callDrawbridge)(args, {
      cwd: folder,
      env: { ...env, ...more },
    });
  const processes = () => processesWith(serverDir);
  onTestFinished(async () => {
    await run(home, ['stop']);
    for (const { pid } of processes()) process.kill(pid, 'SIGKILL');
  });
  return {
    serverDir,
    env,
    run,
    processes,
    pid: () => JSON.parse(readFileSync(join(serverDir, 'instance.json'), 'utf8')).pid,
    status: async () => JSON.parse((await run(home, ['status', '--json'])).stdout),
  };
}
