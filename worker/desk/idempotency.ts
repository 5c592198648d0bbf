/** Reads the header that makes a request safe to repeat. */
import type { Context } from 'hono';
import { IdempotencyKey } from '../../shared/api/requests.ts';
import { type AppContext, senderOf } from '../account/caller.ts';
import type { Sending } from './accept.ts';
import { parse } from './parse.ts';

/** The key and the sender of a request that begins a response. Throws INVALID_REQUEST for a malformed key. */
export function sentWith(c: Context<AppContext>): Omit<Sending, 'request'> {
  const key = c.req.header('idempotency-key');
  return {
    idempotencyKey: key === undefined ? undefined : parse(IdempotencyKey, key),
    ...senderOf(c),
  };
}
