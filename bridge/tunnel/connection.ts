/** Keeps the bridge connected: opens a socket, and another one after its end, unless the server refuses the bridge. */
import { addAbortListener } from 'node:events';
import { keepAlive } from '../../machine/keep-alive.ts';
import { LocalError } from '../../machine/local-error.ts';
import { within } from '../../machine/within.ts';
import { LINK_LIMITS } from './limits.ts';
import {
  type ConnectionConfig,
  type ConnectionEvents,
  type SocketConfig,
  type SocketEnding,
  TunnelSocket,
  type TunnelTokens,
} from './socket.ts';

/** There is no further attempt: the server refused the bridge, and a new attempt would not change that. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
}

/**
 * Stays connected until the signal aborts, and then resolves. Rejects with {@link ConnectionRefused} when the server
 * refused the token and there is no other one, refused the protocol or a frame, or gave the bridge's place to another
 * process for the second time; and when no Drawbridge answers the first attempt.
 */
export async function stayConnected(
  config: ConnectionConfig,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<void> {
  const { token: given, ...fixed } = config;
  const tokenOf: TunnelTokens = typeof given === 'string' ? () => given : given;
  let failures = 0;
  let wasWelcomed = false;
  let replacedAtMs = Number.NEGATIVE_INFINITY;
  await keepAlive(async () => {
    const attempt = { ...fixed, wasWelcomed, answerMs: answerMs(failures) };
    const ending = await connectWith(tokenOf, attempt, events, signal);
    if (signal.aborted) return undefined;
    if (ending.state === 'refused') throw new ConnectionRefused(ending.reason);
    if (ending.state === 'replaced') {
      // Once: two processes would take the place from each other for ever.
      const isAgain = Date.now() - replacedAtMs < LINK_LIMITS.replacedOnceMs;
      if (isAgain) throw new ConnectionRefused(REPLACED_AGAIN);
      replacedAtMs = Date.now();
      events.onClose(ending.reason);
      return LINK_LIMITS.replacedMs;
    }
    const { heldMs } = ending;
    wasWelcomed ||= heldMs > 0;
    events.onClose(ending.reason);
    failures = failuresAfter(failures, heldMs);
    return backoffMs(failures, Math.random());
  }, signal);
}

const REPLACED_AGAIN =
  'Another program with the key of this machine took the place of this bridge twice within a day. If you have started no second one, the state folder was copied: begin a new one, and see `drawbridge sessions`.';

/** One attempt. What another token may change is no refusal. */
async function connectWith(
  tokenOf: TunnelTokens,
  attempt: Omit<SocketConfig, 'token'>,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<SocketEnding> {
  try {
    const token = await within(tokenOf(), signal); // The end of a bridge waits for no other server.
    const ending = await connectOnce({ ...attempt, token }, events, signal);
    if (ending.state !== 'refused' || !ending.isOfToken || signal.aborted) return ending;
    if ((await within(tokenOf(token), signal)) === token) return ending;
    return { state: 'lost', reason: ending.reason, heldMs: 0 };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof LocalError) return { state: 'refused', reason, isOfToken: true };
    return { state: 'lost', reason, heldMs: 0 };
  }
}

async function connectOnce(
  config: SocketConfig,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<SocketEnding> {
  const socket = new TunnelSocket(config, events);
  using _leaving = addAbortListener(signal, () => socket.leave());
  return await socket.ended;
}

/**
 * Resets the count only after a connection that held for `steadyMs`. A welcome alone proves little: a server that fails
 * at each result still welcomes the bridge every time. A runtime that restarts every few seconds does hold that long,
 * so its connections cause no growing wait.
 */
export function failuresAfter(failures: number, heldMs: number): number {
  return heldMs >= LINK_LIMITS.steadyMs ? 0 : failures + 1;
}

/** Doubles with each failure up to the cap. Up to half is taken off, so that bridges do not return at the same time. */
export function backoffMs(failures: number, random: number): number {
  const { backoffMinMs, backoffMaxMs } = LINK_LIMITS;
  return Math.min(backoffMinMs * 2 ** failures, backoffMaxMs) * (1 - random / 2);
}

/** Milliseconds that the next attempt waits for an answer. Doubles with each failure up to the cap. */
export function answerMs(failures: number): number {
  const { answerMinMs, answerMaxMs } = LINK_LIMITS;
  return Math.min(answerMinMs * 2 ** failures, answerMaxMs);
}
