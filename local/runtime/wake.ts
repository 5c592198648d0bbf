/** Resumes, after a start of the Worker, the runs that were in progress when the Worker last ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatLogLine } from '../../machine/log-line.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import type { LogFile } from '../processes/log-file.ts';
import type { ServerState } from '../state/state.ts';
import { mintToken } from '../state/tokens.ts';

/** The object of the runs in progress. Bound here alone, so that a deployment on Cloudflare writes no rows for it. */
export const RUNS_OBJECT = { binding: 'RUNS', className: 'RunsInProgress' } as const;

export interface StartedServer {
  readonly url: string;
  readonly state: ServerState;
  readonly log: LogFile;
}

/** Never rejects: without it, the alarm of each conversation resumes its run within a minute. */
export async function wakeRuns(server: StartedServer, signal: AbortSignal): Promise<void> {
  try {
    await untilWoken(server, AbortSignal.any([signal, AbortSignal.timeout(LOCAL_LIMITS.wakeMs)]));
  } catch (error) {
    if (signal.aborted) return;
    const message = `The runs in progress were not woken: ${error}`;
    // In the log of the runtime, between the lines of the Worker that the failure concerns.
    server.log.append(formatLogLine({ event: 'wake_failed', message }, new Date()));
  }
}

/** A Worker that has only begun to listen, or has died and starts again, is asked again. @throws where it refuses */
async function untilWoken({ url, state }: StartedServer, signal: AbortSignal): Promise<void> {
  const token = await mintToken(state.authSecret, { scope: 'operator' }, new Date());
  const headers = { authorization: `Bearer ${token}` };
  const wake = `${url}/api/v1/operator/runs/wake`;
  for (let waitMs = LOCAL_LIMITS.healthPollMs; ; waitMs *= 2) {
    const response = await fetch(wake, { method: 'POST', signal, headers }).catch(() => null);
    await response?.body?.cancel().catch(() => {}); // It may die in the middle of it.
    if (response?.ok) return;
    if (response && response.status < 500)
      throw new Error(`the Worker answered ${response.status}`);
    await sleep(waitMs, undefined, { signal });
  }
}
