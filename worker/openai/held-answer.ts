/** An answer in one piece to a client that may leave before it is there. */
import { FOLLOW_LIMITS } from '../follow/limits.ts';
import { SseWriter } from '../follow/sse-writer.ts';

export interface WholeAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

/** What an answer that takes long needs of its request. */
export interface Holding {
  /** Aborted here when the client is found to be gone. */
  readonly gone: AbortController;
  /** Aborts with the request, and with `gone`. */
  readonly signal: AbortSignal;
  /** Keeps the process at work for a promise behind the end of the request. */
  readonly waitUntil: (promise: Promise<void>) => void;
}

/**
 * An answer within FOLLOW_LIMITS.heldMs travels under its own status and headers. A later one stands under 200 and
 * `headers`, behind white space, whatever its status: the runtime tells of a client that has left only where something
 * is written to it. `answering` must not reject.
 */
export async function answerHeld(
  answering: Promise<WholeAnswer>,
  headers: WholeAnswer['headers'],
  holding: Holding,
): Promise<Response> {
  const early = await Promise.race([answering, held()]);
  if (early) return toResponse(early);
  const writer = new SseWriter();
  holding.waitUntil(trickle(answering, writer, holding));
  return new Response(writer.readable, { headers: { ...headers, ...JSON_HEADERS } });
}

export function toResponse({ status, body, headers }: WholeAnswer): Response {
  return Response.json(body, { status, headers });
}

const JSON_HEADERS = { 'content-type': 'application/json', 'x-accel-buffering': 'no' } as const;

function held(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), FOLLOW_LIMITS.heldMs));
}

/** Never throws. JSON allows white space before it. */
async function trickle(
  answering: Promise<WholeAnswer>,
  writer: SseWriter,
  { gone, signal }: Holding,
): Promise<void> {
  const drop = () => {
    if (writer.isGone || writer.stalledForMs > FOLLOW_LIMITS.stalledMs) return gone.abort();
    writer.write(' ');
  };
  drop();
  const dropping = setInterval(drop, FOLLOW_LIMITS.trickleMs);
  const { body } = await answering;
  clearInterval(dropping);
  writer.write(JSON.stringify(body));
  await writer.end(signal);
}
