/** Runs Drawbridge with its bridge, as `npm start` does, in its own folders, and finds the processes to kill. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { runInstance } from '../../local/instance.ts';
import { whenAborted } from '../../local/processes/beside.ts';
import { openState, readUserToken, type State } from '../../local/state/state.ts';
import { openTemporaryFolder } from '../folder.ts';
import { RULES, SCRIPT, SCRIPT_FILES } from './scenarios.ts';

/** The process to kill. */
export type Target = 'workerd' | 'bridge';

export interface FaultHouse extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly state: State;
  readonly workspaceDir: string;
  /** Aborts if the house cannot go on, with the reason. */
  readonly fallen: AbortSignal;
  /** Returns false if the process is not running now. */
  kill(target: Target): boolean;
}

const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAMS = {
  workerEntry: join(ROOT, 'worker', 'index.ts'),
  wranglerConfig: join(ROOT, 'wrangler.toml'),
  drawbridge: [process.execPath, join(ROOT, 'bin', 'drawbridge.mjs')],
} as const;

/** Resolves when the API and the bridge are ready. Disposal ends every process and removes the folders. */
export async function startFaultHouse(upstreamUrl: string): Promise<FaultHouse> {
  const folder = openTemporaryFolder();
  const workspaceDir = join(folder.path, 'workspace');
  mkdirSync(workspaceDir);
  for (const name of Object.values(SCRIPT_FILES)) writeFileSync(join(workspaceDir, name), SCRIPT);
  const state = await openState({ workspaceDir, stateDir: join(folder.path, 'state') });
  writeFileSync(join(state.projectDir, 'policy.json'), JSON.stringify({ rules: RULES }));
  const ready = Promise.withResolvers<string>();
  const ending = new AbortController();
  const fallen = new AbortController();
  const running = runInstance(
    {
      ...{ programs: PROGRAMS, state, port: 0 },
      bridge: { project: state, workspaceDir, environment: bridgeEnvironment(process.env) },
      model: { kind: 'upstream', baseUrl: upstreamUrl, apiKey: undefined, model: undefined },
      workerSettings: { RATE_LIMIT_REQUESTS_PER_MINUTE: '0', RATE_LIMIT_RUNS_PER_MINUTE: '0' },
      onReady: async ({ url }) => ready.resolve(url),
      onNotice: () => undefined, // The kills are intended.
    },
    ending.signal,
  ).catch((error: unknown) => fallen.abort(error));
  return {
    url: await Promise.race([ready.promise, whenAborted(fallen.signal)]),
    token: await readUserToken(state, new Date()),
    ...{ state, workspaceDir },
    fallen: fallen.signal,
    kill: (target) => killProcess(target, state),
    async [Symbol.asyncDispose]() {
      ending.abort(new Error('The bench has ended.'));
      await running;
      folder[Symbol.dispose]();
    },
  };
}

/** Finds the process by its arguments, which name folders of this house alone. Linux only: it needs /proc. */
function killProcess(target: Target, state: State): boolean {
  const wanted =
    target === 'workerd' ? [join(state.buildDir, 'workerd.capnp')] : ['connect', state.projectDir];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && hasAll(name, wanted));
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  return pids.length > 0;
}

function hasAll(pid: string, wanted: readonly string[]): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return wanted.every((argument) => args.includes(argument));
  } catch {
    return false; // The process ended during the search.
  }
}
