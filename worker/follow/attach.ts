/** Attaches a reader to its conversation or account by a socket, and attaches it again if the socket is lost. */

import { DrawbridgeError } from '../../shared/errors.ts';
import { formatFollowRequest, tracing } from '../conversation/reading/requests.ts';
import { DONE_CLOSE, type Following, SESSION_CLOSE } from '../conversation/tape/followers.ts';
import type { Env } from '../env.ts';
import { accountOf, conversationOf } from '../objects.ts';
import { refused } from '../people/refused.ts';
import type { Refused } from '../ports/account.ts';
import type { Caller, Person } from '../ports/conversation.ts';
import { inTime, isOfNewerData, storageFault } from '../reach.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** `caller` names a conversation to follow it, or a response of it; else its account is followed. */
export interface Followed {
  readonly caller: Caller | Person;
  readonly responseId: string | null;
}

/** The object's answer: a socket, or a response without one (204 if the reader has seen everything, or an error). */
export type Attached =
  | { readonly type: 'socket'; readonly socket: WebSocket }
  | { readonly type: 'response'; readonly response: Response };

/** How a socket ended. `expired`: the reader's session has ended, or another reader has come with its ticket. `lost`: attach again with the cursor. */
export type AttachEnd = 'done' | 'expired' | 'lost';

async function attach(
  env: Env,
  { caller, responseId }: Followed,
  framing: Following['framing'],
  cursor: number,
): Promise<Attached> {
  const { session, ticket } = caller;
  // Always asked anew: a reader that was cut a moment ago comes back with a token that a plain read still trusts.
  const why = await inTime<Refused | null>(accountOf(env, caller.account).refusal(session));
  if (why) throw refused(why);
  const url = formatFollowRequest(caller, { framing, responseId, session, ticket }, cursor);
  const upgrade = { headers: { ...tracing(caller), upgrade: 'websocket' } };
  const object =
    'conversationId' in caller ? conversationOf(env, caller) : accountOf(env, caller.account);
  const response = await inTime(object.fetch(url, upgrade));
  if (!response.webSocket) return { type: 'response', response };
  return { type: 'socket', socket: response.webSocket };
}

/** {@link attach} for a new reader. Its message is stored already, so this waits for an object that restarts. */
export async function attachFirst(
  env: Env,
  followed: Followed,
  framing: Following['framing'],
  cursor: number,
  signal: AbortSignal,
): Promise<Attached> {
  try {
    return await attach(env, followed, framing, cursor);
  } catch (error) {
    if (isOfNewerData(error) || storageFault(error) || error instanceof DrawbridgeError)
      throw error;
    const attached = await attachAgain(env, followed, framing, () => cursor, signal);
    if (attached) return attached;
    throw error;
  }
}

/** {@link attach} for a reader that lost its socket. Tries `maxReattaches` times; null if the object stays away, or hangs. */
export async function attachAgain(
  env: Env,
  followed: Followed,
  framing: Following['framing'],
  cursor: () => number,
  signal: AbortSignal,
): Promise<Attached | null> {
  const { maxReattaches, reattachMs } = FOLLOW_LIMITS;
  const endMs = Date.now() + maxReattaches * reattachMs;
  for (let tries = 0; tries < maxReattaches && !signal.aborted && Date.now() < endMs; tries++) {
    await new Promise((resolve) => setTimeout(resolve, reattachMs));
    try {
      return await attach(env, followed, framing, cursor());
    } catch {
      // The object is moving or restarting. Try again.
    }
  }
  return null;
}

/** Accepts the socket and passes its messages to `onText`, until the socket closes or the signal aborts. */
export function listen(
  socket: WebSocket,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<AttachEnd> {
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      if (!signal.aborted && typeof data === 'string') onText(data);
    });
    socket.addEventListener('close', ({ code }) => resolve(ENDS.get(code) ?? 'lost'));
    socket.addEventListener('error', () => resolve('lost'));
    const leave = () => {
      closeQuietly(socket);
      resolve('lost');
    };
    signal.addEventListener('abort', leave);
    socket.accept();
    if (signal.aborted) leave(); // The signal aborted before the socket was accepted.
  });
}

const ENDS: ReadonlyMap<number, AttachEnd> = new Map([
  [DONE_CLOSE, 'done'],
  [SESSION_CLOSE, 'expired'],
]);

function closeQuietly(socket: WebSocket): void {
  try {
    socket.close();
  } catch {
    // The socket is already closed.
  }
}
