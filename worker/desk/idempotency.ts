/** The header that makes a request safe to repeat. */
import type { Context } from 'hono';
import { IdempotencyKey } from '../../shared/api/requests.ts';
import { type AppContext, senderOf } from '../account/caller.ts';
import type { Header } from '../endpoint.ts';
import { parse } from './parse.ts';
import type { Sending } from './submit.ts';

/** The header of requests that begin a response. */
export const IDEMPOTENCY_KEY: Header = {
  name: 'Idempotency-Key',
  description:
    'Requests with the same key and the same body get the same response, which starts only once. The same key with another body is refused.',
  zod: IdempotencyKey,
};

/** The key and the sender of a request that begins a response. Throws INVALID_REQUEST for a malformed key. */
export function sentWith(c: Context<AppContext>): Omit<Sending, 'request'> {
  const key = c.req.header('idempotency-key');
  return {
    idempotencyKey: key === undefined ? undefined : parse(IdempotencyKey, key),
    ...senderOf(c),
  };
}
