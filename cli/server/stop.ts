/** Ends a running server, of whatever version. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCAL_LIMITS } from '../../local/limits.ts';
import { findInstanceIn, isClaimed } from '../../local/state/running.ts';
import { LocalError } from '../../machine/local-error.ts';
import { isSystemError } from '../../machine/system-error.ts';

/** Stops the server by SIGTERM, which every version understands; false if none ran. @throws {LocalError} if late. */
export async function stopServer(serverDir: string): Promise<boolean> {
  if (!isClaimed(serverDir)) return false;
  const deadline = performance.now() + LOCAL_LIMITS.serverEndMs;
  let asked: number | undefined;
  while (isClaimed(serverDir)) {
    // A server that is still starting has no process id yet.
    const pid = (await findInstanceIn(serverDir))?.pid;
    if (pid !== undefined && pid !== asked) askToEnd(pid);
    asked ??= pid;
    if (performance.now() > deadline) throw stuck(asked);
    await sleep(LOCAL_LIMITS.serverPollMs);
  }
  return true;
}

function askToEnd(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (!isSystemError(error, 'ESRCH')) throw error;
  }
}

function stuck(pid: number | undefined): LocalError {
  const how = pid === undefined ? '' : `: \`kill -9 ${pid}\` stops it without losing data`;
  return new LocalError('failed', `The server does not stop${how}.`);
}
