/** The subscriptions to Web Push, and their statements. Functions of {@link AccountStore}'s database. */
import * as z from 'zod';
import { BrowserSubscription, PushKinds } from '../../shared/api/push.ts';
import type { StoredPush } from '../ports.ts';

/** A session has one subscription, and it goes with the session (session-statements.ts). JSON. */
export const PUSH_COLUMN = 'alter table sessions add column push text;';

const Stored = z.object({
  subscription: BrowserSubscription,
  kinds: PushKinds,
  origin: z.string(),
});

/** Replaces the subscription of a session that has not ended; null removes it. */
export function savePush(sql: SqlStorage, session: string, push: StoredPush | null): void {
  sql.exec(
    'update sessions set push = ? where id = ? and ended is null',
    push && JSON.stringify(push),
    session,
  );
}

/** The subscriptions of the sessions that have not ended, by session. */
export function readPushes(sql: SqlStorage): Map<string, StoredPush> {
  const rows = sql.exec<{ id: string; push: string }>(
    'select id, push from sessions where push is not null and ended is null',
  );
  return new Map(rows.toArray().map(({ id, push }) => [id, Stored.parse(JSON.parse(push))]));
}
