/** The subscriptions to notifications, and their statements. Functions of {@link AccountStore}'s database. */
import * as z from 'zod';
import { PushKinds, PushSubscription } from '../../shared/api/push.ts';
import type { StoredPush } from '../ports/account.ts';

/** A session has one subscription, and it goes with the session (session-statements.ts). JSON. */
export const PUSH_COLUMN = 'alter table sessions add column push text;';

const Stored = z.object({
  subscription: PushSubscription,
  kinds: PushKinds,
  origin: z.string(),
});

/** See `savePush` of the account's port. */
export function savePush(sql: SqlStorage, session: string, push: StoredPush | null): void {
  const stored = push && withToken(push, readPushes(sql).get(session));
  sql.exec(
    'update sessions set push = ? where id = ? and ended is null',
    stored && JSON.stringify(stored),
    session,
  );
}

/** No answer shows a topic's token, so a client that changes the kinds cannot send it again. */
function withToken(push: StoredPush, before: StoredPush | undefined): StoredPush {
  const [wanted, kept] = [push.subscription, before?.subscription];
  const isSame = kept && 'topic' in kept && 'topic' in wanted && kept.topic === wanted.topic;
  return isSame ? { ...push, subscription: { ...kept, ...wanted } } : push;
}

/** The subscriptions of the sessions that have not ended, by session. */
export function readPushes(sql: SqlStorage): Map<string, StoredPush> {
  const rows = sql.exec<{ id: string; push: string }>(
    'select id, push from sessions where push is not null and ended is null',
  );
  return new Map(rows.toArray().map(({ id, push }) => [id, Stored.parse(JSON.parse(push))]));
}
