/** A reader's socket to its conversation, taken up again for as long as the reader is there. */

import { formatFollowRequest } from '../conversation/reading/requests.ts';
import { DONE_CLOSE, type Following } from '../conversation/tape/followers.ts';
import type { Env } from '../env.ts';
import { conversationOf } from '../objects.ts';
import type { Caller } from '../ports.ts';
import { FOLLOW_LIMITS } from './limits.ts';

export interface Followed {
  readonly caller: Caller;
  readonly responseId: string | null;
}

/** The object's answer: a socket, or the response that says why there is none (204: seen to its end; or an error). */
export type Attached =
  | { readonly type: 'socket'; readonly socket: WebSocket }
  | { readonly type: 'response'; readonly response: Response };

/** How a socket ended: `done` is the end of the stream, `lost` means attach again with the cursor. */
export type Ending = 'done' | 'lost';

async function attach(
  env: Env,
  { caller, responseId }: Followed,
  framing: Following['framing'],
  cursor: number,
): Promise<Attached> {
  const url = formatFollowRequest(caller, { framing, responseId }, cursor);
  const upgrade = { headers: { upgrade: 'websocket' } };
  const response = await conversationOf(env, caller).fetch(url, upgrade);
  if (!response.webSocket) return { type: 'response', response };
  return { type: 'socket', socket: response.webSocket };
}

/** {@link attach} for a new reader. Its message is stored already, so an object that restarts just now is waited for. */
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
    const attached = await attachAgain(env, followed, framing, () => cursor, signal);
    if (attached) return attached;
    throw error;
  }
}

/** {@link attach} for a reader that was attached before: an object that is restarting is asked again and again. */
export async function attachAgain(
  env: Env,
  followed: Followed,
  framing: Following['framing'],
  cursor: () => number,
  signal: AbortSignal,
): Promise<Attached | null> {
  for (let tries = 0; tries < FOLLOW_LIMITS.maxReattaches && !signal.aborted; tries++) {
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_LIMITS.reattachMs));
    try {
      return await attach(env, followed, framing, cursor());
    } catch {
      // The object is being moved or restarted. It is the next try's turn.
    }
  }
  return null;
}

/** Begins to receive. Messages are handed on as they come until the socket has closed or the signal aborts. */
export function listen(
  socket: WebSocket,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<Ending> {
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      if (!signal.aborted && typeof data === 'string') onText(data);
    });
    socket.addEventListener('close', ({ code }) => resolve(code === DONE_CLOSE ? 'done' : 'lost'));
    socket.addEventListener('error', () => resolve('lost'));
    const leave = () => {
      closeQuietly(socket);
      resolve('lost');
    };
    signal.addEventListener('abort', leave);
    socket.accept();
    if (signal.aborted) leave(); // The reader left while it was attached.
  });
}

function closeQuietly(socket: WebSocket): void {
  try {
    socket.close();
  } catch {
    // It was closed already: that is what was wanted.
  }
}
