/** Resumes, after a start of the Worker, the runs that were in progress when the Worker last ended. */
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
 * Reads every conversation that has an alarm, as any client could: reading a conversation resumes its run. Never
 * rejects: if this fails, the alarms themselves wake the conversations within a minute.
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

/** The conversations with an alarm, the next alarm first. A conversation that asks a model has one within a minute. */
function readAlarms(storageDir: string): string[] {
  const path = join(storageDir, uniqueKeyOf('Conversation'), 'metadata.sqlite');
  if (!existsSync(path)) return [];
  // The table belongs to workerd, which has it open; SQLite allows a second process.
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
