/** Answers a reader's request for events by the transport that it asks for. */
import type { Env } from '../env.ts';
import { followAsSocket } from './socket-adapter.ts';
import { followAsSse, type SseFollowed } from './sse-adapter.ts';

/** With `Upgrade: websocket` a WebSocket, which ignores the framing; else SSE. */
export async function follow(request: Request, env: Env, followed: SseFollowed): Promise<Response> {
  const isUpgrade =
    request.method === 'GET' && request.headers.get('upgrade')?.toLowerCase() === 'websocket';
  return isUpgrade
    ? await followAsSocket(request, env, followed)
    : await followAsSse(request, env, followed);
}
