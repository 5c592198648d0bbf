/** Finds the running server of a place, or starts it in the background. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { ownEnvironment } from '../../local/bridge/environment.ts';
import { LOCAL_LIMITS } from '../../local/limits.ts';
import type { Programs } from '../../local/server/worker.ts';
import type { StatePlace } from '../../local/state/folder.ts';
import { readKnownFormat } from '../../local/state/format.ts';
import { findInstanceIn, type Instance, isClaimed } from '../../local/state/running.ts';
import { openServerState } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import type { StartSettings } from './start-settings.ts';

/** From the process of the server to the command that started it. */
export const LaunchNews = z.discriminatedUnion('event', [
  z.object({ event: z.literal('ready') }),
  z.object({
    event: z.literal('failed'),
    kind: z.enum(['refused', 'failed']),
    message: z.string(),
  }),
]);
export type LaunchNews = z.infer<typeof LaunchNews>;

export interface LaunchOptions {
  readonly place: Pick<StatePlace, 'kind' | 'serverDir'>;
  readonly programs: Programs;
  /** Called only if a server must be started. */
  settings(): Promise<StartSettings>;
}

/** Joins the server, and starts it if none runs; of two starts one joins. @throws {LocalError} if it cannot start. */
export async function joinOrStart(options: LaunchOptions): Promise<Instance> {
  const { serverDir } = options.place;
  for (let attempt = 0; attempt < LOCAL_LIMITS.maxServerStarts; attempt++) {
    const instance = await findStarting(serverDir);
    if (instance) return instance;
    const failure = await start(options);
    if (failure && !isClaimed(serverDir)) throw failure;
  }
  throw silent(serverDir);
}

/** The server that runs or is starting, if any. @throws {LocalError} if it hangs, or is of a later version. */
export async function findStarting(serverDir: string): Promise<Instance | undefined> {
  await readKnownFormat(serverDir);
  const deadline = performance.now() + LOCAL_LIMITS.serverStartMs;
  while (isClaimed(serverDir)) {
    const instance = await findInstanceIn(serverDir);
    if (instance) return instance;
    if (performance.now() > deadline) throw silent(serverDir);
    await sleep(LOCAL_LIMITS.serverPollMs);
  }
  return undefined;
}

function silent(serverDir: string): LocalError {
  return new LocalError('failed', `The server in ${serverDir} is starting, but does not answer.`);
}

/** Resolves when the server is ready, or to the reason why it is not. */
async function start(options: LaunchOptions): Promise<LocalError | undefined> {
  const { place, programs } = options;
  const settings = await options.settings();
  const { logsDir } = await openServerState(place.serverDir);
  const log = openSync(join(logsDir, 'server.log'), 'a', 0o600);
  const [program, ...first] = programs.daemon ?? programs.drawbridge;
  const args = ['daemon', '--state-dir', place.serverDir, '--kind', place.kind];
  const child = spawn(program, [...first, ...args], {
    detached: true,
    cwd: place.serverDir,
    env: ownEnvironment(settings.environment),
    // What a crash writes comes into the log; the server's own lines do so anyway.
    stdio: ['ignore', 'ignore', log, 'ipc'],
  });
  closeSync(log);
  child.send(settings);
  const late = AbortSignal.timeout(LOCAL_LIMITS.serverStartMs);
  const heard = once(child, 'message', { signal: late }).then(([news]) => LaunchNews.parse(news));
  const died = once(child, 'exit', { signal: late }).then(() => DIED);
  const failed = { event: 'failed', kind: 'failed' } as const;
  const news = await Promise.race([heard, died]).catch((error: unknown) => ({
    ...failed,
    message: late.aborted ? LATE : `The server cannot be started: ${String(error)}`,
  }));
  for (const loser of [heard, died]) loser.catch(() => {});
  if (child.connected) child.disconnect();
  child.unref();
  return news.event === 'ready' ? undefined : new LocalError(news.kind, news.message);
}

const SAYS_WHY = '`drawbridge logs server` says why.';
const DIED = {
  event: 'failed',
  kind: 'failed',
  message: `The server stopped while it started: ${SAYS_WHY}`,
} as const;
const LATE = `The server did not start in time: ${SAYS_WHY}`;
