/** Runs Drawbridge with its bridge, as `npm start` does, in its own folders, and finds the processes to kill. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { whenAborted } from '../../local/processes/beside.ts';
import { runServer } from '../../local/server/server.ts';
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

/**
 * Resolves when the API and the bridge are ready. Disposal ends every process and removes the folders. `model` answers
 * messages that name none.
 */
export async function startFaultHouse(upstreamUrl: string, model?: string): Promise<FaultHouse> {
  const folder = openTemporaryFolder();
  const workspaceDir = join(folder.path, 'workspace');
  mkdirSync(workspaceDir);
  for (const name of Object.values(SCRIPT_FILES)) writeFileSync(join(workspaceDir, name), SCRIPT);
  const state = await openState({ workspaceDir, stateDir: join(folder.path, 'state') });
  writeFileSync(join(state.projectDir, 'policy.json'), JSON.stringify({ rules: RULES }));
  const ready = Promise.withResolvers<string>();
  const ending = new AbortController();
  const fallen = new AbortController();
  const environment = { ...bridgeEnvironment(process.env), [MARK]: state.dir };
  const running = runServer(
    {
      programs: PROGRAMS,
      state,
      kind: 'own',
      port: 0,
      environment,
      keyNames: [],
      withBridges: true,
      sharesTerminal: false,
      model: { kind: 'upstream', baseUrl: upstreamUrl, apiKey: undefined, model },
      modelNames: { name: null, text: 'scripted' },
      workerSettings: { RATE_LIMIT_REQUESTS_PER_MINUTE: '0', RATE_LIMIT_RUNS_PER_MINUTE: '0' },
      onReady: async ({ url, connect }) => {
        await connect({ workspaceDir, environment, isHeld: true, asksAtTerminal: false });
        ready.resolve(url);
      },
      onNotice: () => undefined, // The kills are intended.
    },
    ending.signal,
  ).catch((error: unknown) => fallen.abort(error));
  return {
    url: await Promise.race([ready.promise, whenAborted(fallen.signal)]),
    token: await readUserToken(state, new Date()),
    state,
    workspaceDir,
    fallen: fallen.signal,
    kill: (target) => killProcess(target, state),
    async [Symbol.asyncDispose]() {
      ending.abort(new Error('The bench is over.'));
      await running;
      folder[Symbol.dispose]();
    },
  };
}

/** Finds the process by what names folders of this house alone. Linux only: it needs /proc. */
function killProcess(target: Target, state: State): boolean {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const wanted = pids.filter((pid) =>
    target === 'workerd'
      ? wordsOf(pid, 'cmdline').includes(join(state.buildDir, 'workerd.capnp'))
      : wordsOf(pid, 'cmdline').includes('bridge-host') &&
        wordsOf(pid, 'environ').includes(`${MARK}=${state.dir}`),
  );
  for (const pid of wanted) process.kill(Number(pid), 'SIGKILL');
  return wanted.length > 0;
}

/** Names the house in the environment of its bridge. */
const MARK = 'DRAWBRIDGE_BENCH_HOUSE';

function wordsOf(pid: string, file: 'cmdline' | 'environ'): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    return []; // The process ended during the search.
  }
}
