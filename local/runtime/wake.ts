/** After a start of the Worker: makes the runs go on that were at work when the Worker last ended. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { ConversationId } from '../../shared/ids.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import type { LogFile } from '../processes/log-file.ts';
import type { State } from '../state/state.ts';
import { mintToken } from '../state/tokens.ts';
import { waitUntilHealthy } from './address.ts';
import { uniqueKeyOf } from './workerd-config.ts';

export interface Started {
  readonly url: string;
  readonly state: State;
  readonly log: LogFile;
}

/**
 * Reads every conversation that has set an alarm, as any client could: whoever reads a conversation makes its run go
 * on. Never rejects: without it the alarms themselves wake the conversations, within a minute.
 */
export async function wakeConversations(
  { url, state, log }: Started,
  signal: AbortSignal,
): Promise<void> {
  try {
    await waitUntilHealthy(url, signal);
    const ids = readAlarms(state.storageDir);
    if (ids.length === 0) return;
    const token = await mintToken(state.authSecret, { scope: 'user' }, new Date());
    const workers = Array.from({ length: LOCAL_LIMITS.wokenAtOnce }, async () => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
        await readConversation(`${url}/api/v1/conversations/${id}?limit=1`, token, signal);
      }
    });
    await Promise.all(workers);
  } catch (error) {
    if (!signal.aborted) log.append(`drawbridge: conversations were not woken: ${error}\n`);
  }
}

/** The conversations with an alarm, the nearest first: those that ask a model have it within a minute. */
function readAlarms(storageDir: string): string[] {
  const path = join(storageDir, uniqueKeyOf('Conversation'), 'metadata.sqlite');
  if (!existsSync(path)) return [];
  // workerd's own table; it has it open, and two processes may.
  using database = new DatabaseSync(path, { readOnly: true, timeout: LOCAL_LIMITS.alarmsWaitMs });
  return database
    .prepare('select actor_name as id from _cf_ALARM order by scheduled_time limit ?')
    .all(LOCAL_LIMITS.maxWoken)
    .flatMap((row) => AlarmRow.safeParse(row).data?.id ?? []);
}

const AlarmRow = z.object({ id: ConversationId });

async function readConversation(url: string, token: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, { signal, headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
}
