/** Decides whether a new conversation is private, where its first message does not say it. */
import { DeleteAfterHours } from '../shared/api/requests.ts';
import { DrawbridgeError } from '../shared/errors.ts';
import type { Env } from './env.ts';
import { accountOf } from './objects.ts';
import { reach } from './reach.ts';

/**
 * The account's default, else that of the server; null where new conversations are not private.
 * @throws {DrawbridgeError} NOT_CONFIGURED for a setting that is none: what it was meant to delete must not be stored.
 */
export async function defaultPrivacy(env: Env, account: string): Promise<number | null> {
  const own = await reach<number | null | undefined>(() =>
    accountOf(env, account).deleteAfterHours(),
  );
  if (own !== undefined) return own;
  const { DELETE_AFTER_HOURS: text } = env;
  if (!text) return null;
  const { success, data } = DeleteAfterHours.safeParse(Number(text));
  if (success) return data;
  throw new DrawbridgeError('NOT_CONFIGURED', `DELETE_AFTER_HOURS: ${text} is no number of hours`);
}
