/** Sends an answer in one piece, and notices a client that leaves before it is complete. */
import { waitUntil } from 'cloudflare:workers';
import { FOLLOW_LIMITS, SseWriter } from '../../worker/door.ts';

export interface WholeAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

/** The parts of its request that a late answer needs. */
export interface Holding {
  /** Aborted here if the client has left. */
  readonly gone: AbortController;
  /** Aborts with the request, and with `gone`. */
  readonly signal: AbortSignal;
}

/**
 * Sends an answer that comes within FOLLOW_LIMITS.heldMs with its own status and headers. Sends a later one with status
 * 200 and `headers`, after white space: the runtime notices that a client has left only by writing to it. `answering`
 * must not reject.
 */
export async function answerHeld(
  answering: Promise<WholeAnswer>,
  headers: WholeAnswer['headers'],
  holding: Holding,
): Promise<Response> {
  const early = await Promise.race([answering, held()]);
  if (early) return toResponse(early);
  const writer = new SseWriter();
  waitUntil(trickle(answering, writer, holding));
  return new Response(writer.readable, { headers: { ...headers, ...JSON_HEADERS } });
}

export function toResponse({ status, body, headers }: WholeAnswer): Response {
  return Response.json(body, { status, headers });
}

const JSON_HEADERS = { 'content-type': 'application/json', 'x-accel-buffering': 'no' } as const;

function held(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), FOLLOW_LIMITS.heldMs));
}

/** Writes spaces until the answer comes, which JSON allows. Never throws. */
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
