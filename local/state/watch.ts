/** Watches the state folder in use: a person may delete it or make it read-only, and its disk may fill up. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../machine/local-error.ts';
import { LOCAL_LIMITS } from '../limits.ts';

/**
 * Until `signal` aborts, reports each problem once when it begins and once when it is over. A problem does not end the
 * watch: it may pass by itself.
 * @throws {LocalError} if the folder is gone: everything stored from then on would be lost.
 */
export async function watchState(
  dir: string,
  onNotice: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { ino } = await stat(dir);
  let told: string | undefined;
  while (!signal.aborted) {
    await sleep(LOCAL_LIMITS.stateWatchMs, undefined, { signal }).catch(() => {});
    const now = await stat(dir).catch(() => undefined);
    if (signal.aborted) return;
    if (now?.ino !== ino) throw gone(dir);
    const trouble = await troubleWith(dir);
    if (trouble !== told) {
      onNotice(trouble ?? `The state folder ${dir} can be written again.`);
    }
    told = trouble;
  }
}

async function troubleWith(dir: string): Promise<string | undefined> {
  try {
    await access(dir, constants.W_OK);
    const { bavail, bsize } = await statfs(dir);
    if (bavail * bsize >= LOCAL_LIMITS.minFreeBytes) return undefined;
    return `The disk of the state folder ${dir} is full: nothing new can be stored. Make room.`;
  } catch {
    return `The state folder ${dir} cannot be written: nothing new can be stored. Make it writable again.`;
  }
}

function gone(dir: string): LocalError {
  return new LocalError(
    'failed',
    `The state folder ${dir} was deleted, with its conversations and keys, while Drawbridge was running. Start Drawbridge again to make a new one.`,
  );
}
