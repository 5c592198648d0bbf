/** The records of who did what: `GET records` of an account, `GET operator/records` of the server. */
import * as z from 'zod';
import { SessionId } from '../ids.ts';
import { RECORD_LIMITS } from '../limits.ts';
import { named } from '../named.ts';

/**
 * What was done, and what the `subject` of its record is. `signed_in`: the new session's id and name; `session` let it
 * in. `session_ended`: that session's id. `invitation_…`: the invitation's id. `login_approved`, `login_refused`: the
 * device's name. `passkey_…`: the passkey's name. `bridge_…`: the bridge. `bridge_shared`: one of another account, which
 * let this one in. `bridge_replaced`: another process with the bridge's key took its place. `conversation_…`: the
 * conversation. `account_…`: the account. `key_…`: the app's key.
 */
export const RecordAction = z.enum([
  ...(['signed_in', 'session_ended', 'login_approved', 'login_refused'] as const),
  ...(['invitation_created', 'invitation_revoked'] as const),
  ...(['passkey_added', 'passkey_used', 'passkey_removed'] as const),
  ...(['bridge_added', 'bridge_shared', 'bridge_move_allowed', 'bridge_replaced'] as const),
  ...(['conversation_exported', 'conversation_deleted'] as const),
  ...(['account_suspended', 'account_resumed', 'account_exported', 'account_deleted'] as const),
  ...(['key_created', 'key_changed', 'key_renewed', 'key_deleted'] as const),
]);
named.add(RecordAction, { id: 'RecordAction' });
export type RecordAction = z.infer<typeof RecordAction>;

/** One act. It never has text of a conversation, nor a secret. */
export const ActRecord = z.object({
  at: z.iso.datetime(),
  /** The session that did it; null for a token without one, for a user of an app, and for the operator. */
  session: SessionId.nullable(),
  action: RecordAction,
  subject: z.string(),
});
named.add(ActRecord, { id: 'ActRecord' });
export type ActRecord = z.infer<typeof ActRecord>;

/** `GET records` and `GET operator/records`, the newest first. */
export const ActRecordList = z.object({
  items: z.array(ActRecord),
  /** The `cursor` of the next page; null on the last page. */
  nextCursor: z.string().nullable(),
});
named.add(ActRecordList, { id: 'ActRecordList' });
export type ActRecordList = z.infer<typeof ActRecordList>;

export const RecordsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(RECORD_LIMITS.maxPage).default(RECORD_LIMITS.page),
  /** `nextCursor` of the page before. */
  cursor: z.string().optional(),
});
export type RecordsQuery = z.infer<typeof RecordsQuery>;
