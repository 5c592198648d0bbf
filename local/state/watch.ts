/** Watches the state folder in use: a person may delete it or make it read-only, and its disk may fill up. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../machine/local-error.ts';
import type { LogEvent, TellNotice } from '../../machine/log-line.ts';
import { LOCAL_LIMITS } from '../limits.ts';

/**
 * Until `signal` aborts, reports each problem once when it begins and once when it is over. A problem does not end the
 * watch: it may pass by itself.
 * @throws {LocalError} if the folder is gone: everything stored from then on would be lost.
 */
export async function watchState(
  dir: string,
  onNotice: TellNotice,
  signal: AbortSignal,
): Promise<void> {
  const { ino } = await stat(dir);
  let reported: LogEvent | undefined;
  while (!signal.aborted) {
    await sleep(LOCAL_LIMITS.stateWatchMs, undefined, { signal }).catch(() => {});
    // First: a folder that is being deleted has this trouble, too.
    const trouble = await troubleWith(dir);
    const now = await stat(dir).catch(() => undefined);
    if (signal.aborted) return;
    if (now?.ino !== ino) throw gone(dir);
    if (trouble?.event !== reported) {
      const { line, event } = trouble ?? writableAgain(dir);
      onNotice(line, event);
    }
    reported = trouble?.event;
  }
}

interface WatchLine {
  readonly line: string;
  readonly event: LogEvent;
}

async function troubleWith(dir: string): Promise<WatchLine | undefined> {
  try {
    await access(dir, constants.W_OK);
    const { bavail, bsize } = await statfs(dir);
    if (bavail * bsize >= LOCAL_LIMITS.minFreeBytes) return undefined;
    const line = `The disk of the state folder ${dir} is full: nothing new can be stored. Make room.`;
    return { line, event: 'disk_full' };
  } catch {
    const line = `The state folder ${dir} cannot be written: nothing new can be stored. Make it writable again.`;
    return { line, event: 'state_unwritable' };
  }
}

function writableAgain(dir: string): WatchLine {
  return { line: `The state folder ${dir} can be written again.`, event: 'state_writable' };
}

function gone(dir: string): LocalError {
  return new LocalError(
    'failed',
    `The state folder ${dir} was deleted, with its conversations and keys, while Drawbridge was running. Start Drawbridge again to make a new one.`,
  );
}
