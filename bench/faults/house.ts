/** Runs Drawbridge with its bridge, as `npm start` does, in its own folders, and finds the processes to kill. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { whenAborted } from '../../local/processes/beside.ts';
import { openState, readUserToken, type State } from '../../local/state/state.ts';
import { openTemporaryFolder } from '../folder.ts';
import { DRAWBRIDGE } from '../own-server.ts';
import { RULES, SCRIPT, SCRIPT_FILES } from './scenarios.ts';

/** The process to kill. */
export type Target = 'workerd' | 'bridge';

/** An event as a receiver got it. */
export interface Hook {
  readonly id: string;
  readonly type: string;
  readonly agentId: string;
}

export interface FaultHouse extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly state: State;
  readonly workspaceDir: string;
  /** Takes webhooks, as {@link hooks} then shows them. */
  readonly webhookUrl: string;
  readonly hooks: readonly Hook[];
  /** Aborts if the house cannot go on, with the reason. */
  readonly fallen: AbortSignal;
  /** Returns false if the process is not running now. */
  kill(target: Target): boolean;
}

/**
 * Resolves when the API and the bridge are ready. Disposal ends every process and removes the folders. `model` answers
 * messages that name none; `program` is `drawbridge`, in words.
 */
export async function startFaultHouse(
  upstreamUrl: string,
  model: string,
  program: readonly [string, ...string[]] = DRAWBRIDGE,
): Promise<FaultHouse> {
  const folder = openTemporaryFolder();
  const workspaceDir = join(folder.path, 'workspace');
  mkdirSync(workspaceDir);
  for (const name of Object.values(SCRIPT_FILES)) writeFileSync(join(workspaceDir, name), SCRIPT);
  const state = await openState({ workspaceDir, stateDir: join(folder.path, 'state') });
  writeFileSync(join(state.projectDir, 'policy.json'), JSON.stringify({ rules: RULES }));
  const hooks: Hook[] = [];
  const receiver = createServer(async (request, response) => {
    const { type, data } = HookBody.parse(JSON.parse(await text(request)));
    hooks.push({ id: String(request.headers['webhook-id']), type, agentId: data.id });
    response.end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const origin = `http://127.0.0.1:${Object(receiver.address()).port}`;
  const [command, ...words] = program;
  const places = ['--port', '0', '--workspace', workspaceDir, '--state', state.dir];
  const up = spawn(command, [...words, 'up', ...places, '--json'], {
    cwd: workspaceDir,
    // Its notices are about the kills, which are intended.
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...bridgeEnvironment(process.env),
      XDG_CONFIG_HOME: folder.path,
      OPENAI_BASE_URL: upstreamUrl,
      OPENAI_MODEL: model,
      RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
      RATE_LIMIT_RUNS_PER_MINUTE: '0',
      WEBHOOK_ORIGINS: origin,
      [MARK]: state.dir,
      DRAWBRIDGE_PASS_ENV: MARK,
    },
  });
  const endWithUs = () => up.kill('SIGKILL');
  process.once('exit', endWithUs);
  const fallen = new AbortController();
  const exited = once(up, 'exit').then(([code]) =>
    fallen.abort(new Error(`drawbridge up ended with ${code}: see ${state.logsDir}`)),
  );
  const [line] = await Promise.race([
    once(createInterface({ input: up.stdout }), 'line'),
    whenAborted(fallen.signal),
  ]);
  return {
    url: Ready.parse(JSON.parse(line)).url,
    token: await readUserToken(state, new Date()),
    state,
    workspaceDir,
    webhookUrl: `${origin}/hook`,
    hooks,
    fallen: fallen.signal,
    kill: (target) => killProcess(target, state),
    async [Symbol.asyncDispose]() {
      up.kill('SIGINT');
      await exited;
      process.off('exit', endWithUs);
      receiver.close();
      folder[Symbol.dispose]();
    },
  };
}

const Ready = z.object({ url: z.string() });
const HookBody = z.object({ type: z.string(), data: z.object({ id: z.string() }) });

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
