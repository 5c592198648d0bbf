/** Resumes, after a start of the Worker, the runs that were in progress when the Worker last ended. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { formatLogLine, type LogEvent } from '../../machine/log-line.ts';
import { loadSqlite } from '../../machine/sqlite.ts';
import { ConversationId } from '../../shared/ids.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import type { LogFile } from '../processes/log-file.ts';
import type { ServerState } from '../state/state.ts';
import { mintToken } from '../state/tokens.ts';
import { waitUntilHealthy } from './address.ts';
import { uniqueKeyOf } from './workerd-config.ts';

export interface StartedServer {
  readonly url: string;
  readonly state: ServerState;
  readonly log: LogFile;
  /** What {@link readAlarms} found before this start. */
  readonly alarms: readonly string[];
}

/**
 * The ids of the conversations with an alarm, the next alarm first. A conversation that asks a model has one within a
 * minute. Call it while no Worker runs: the table belongs to workerd. Never throws: if the table cannot be read, or this
 * Node has no SQLite (before 22.13), the alarms themselves wake the conversations within a minute.
 */
export function readAlarms({
  state,
  log,
}: Pick<StartedServer, 'state' | 'log'>): readonly string[] {
  const path = join(state.storageDir, uniqueKeyOf('Conversation'), 'metadata.sqlite');
  try {
    const sqlite = existsSync(path) && loadSqlite();
    if (!sqlite) return [];
    const database = new sqlite.DatabaseSync(path, { readOnly: true });
    try {
      // The second column is the time, in nanoseconds: too large for a number.
      const rows = database.prepare(
        `SELECT * FROM _cf_ALARM ORDER BY 2 LIMIT ${LOCAL_LIMITS.maxWoken}`,
      );
      rows.setReadBigInts(true);
      return rows.all().flatMap((row) => AlarmRow.safeParse(Object.values(row)).data ?? []);
    } finally {
      database.close();
    }
  } catch (error) {
    tellFailure(log, 'alarms_unread', `The alarms of conversations were not read: ${error}`);
    return [];
  }
}

/** A row of workerd: the object's own id, the alarm's time, and the name that the object was made with. */
const AlarmRow = z.tuple([z.string(), z.bigint(), ConversationId]).transform(([, , id]) => id);

/** Reads every conversation that had an alarm, which resumes its run. Never rejects: alarms come within a minute. */
export async function wakeConversations(
  { url, state, log, alarms }: StartedServer,
  signal: AbortSignal,
): Promise<void> {
  if (alarms.length === 0) return;
  const ids = [...alarms];
  try {
    await waitUntilHealthy(url, signal);
    const token = await mintToken(state.authSecret, { scope: 'user' }, new Date());
    const workers = Array.from({ length: LOCAL_LIMITS.wokenAtOnce }, async () => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
        await readConversation(`${url}/api/v1/conversations/${id}?limit=1`, token, signal);
      }
    });
    await Promise.all(workers);
  } catch (error) {
    if (signal.aborted) return;
    tellFailure(log, 'wake_failed', `Conversations were not woken: ${error}`);
  }
}

/** In the log of the runtime, between the lines of the Worker that the failure concerns. */
function tellFailure(log: LogFile, event: LogEvent, message: string): void {
  log.append(formatLogLine({ event, message }, new Date()));
}

async function readConversation(url: string, token: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, { signal, headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
}
