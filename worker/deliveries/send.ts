/** One attempt to deliver a webhook, and what follows from its outcome. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { SECOND } from '../../shared/units.ts';
import { TimeLimit } from '../time-limit.ts';
import { type AddressEnv, reachOf } from './address.ts';
import { DELIVERY_LIMITS } from './limits.ts';
import { type SignedMessage, signedHeaders } from './signature.ts';

export interface SendEnv extends AddressEnv {
  /** Reaches public addresses only, after names are resolved. Cloudflare needs none: its `fetch` reaches no others. */
  readonly PUBLIC_NETWORK?: Pick<Fetcher, 'fetch'>;
}

/** Where messages go. */
export interface WebhookTarget {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
}

/** The receiver's answer, or why there is none. `retryAfterMs` is what it asks for. */
export interface ReceiverAnswer {
  readonly status?: number;
  readonly error?: string;
  readonly retryAfterMs?: number;
}

/** Never throws. */
export async function send(
  env: SendEnv,
  target: WebhookTarget,
  message: SignedMessage,
): Promise<ReceiverAnswer> {
  try {
    const reach = reachOf(target.url, env, 'webhook.url'); // The operator's setting may have changed.
    const signed = await signedHeaders(target.secret, message);
    const headers = { ...signed, 'content-type': 'application/json', 'user-agent': 'drawbridge' };
    const { body } = message;
    return await post(env, { url: target.url, reach, headers, body });
  } catch (error) {
    return { error: describe(error) };
  }
}

/** A request to an address that a client has chosen. `reach`: whether it may lead into a private network. */
export interface Post {
  readonly url: string;
  readonly reach: 'public' | 'any';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** Sends a request within DELIVERY_LIMITS.attemptMs. Reads no body, follows no redirect. @throws as `fetch` */
export async function post(
  env: SendEnv,
  { url, reach, headers, body }: Post,
): Promise<{ readonly status: number; readonly retryAfterMs?: number }> {
  using late = new TimeLimit(DELIVERY_LIMITS.attemptMs);
  const init: RequestInit = {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: late.signal,
  };
  const network = reach === 'public' ? env.PUBLIC_NETWORK : undefined;
  const response = await (network ? network.fetch(url, init) : fetch(url, init));
  void response.body?.cancel().catch(() => undefined);
  const retryAfterMs = retryAfterOf(response);
  return { status: response.status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Only seconds: a date would need the receiver's clock. */
function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  if (!(seconds >= 0)) return undefined;
  return Math.min(seconds * SECOND, DELIVERY_LIMITS.maxRetryAfterMs);
}

/** The texts of the runtime name its insides, so people get our own. */
function describe(error: unknown): string {
  if (error instanceof DrawbridgeError) return error.message;
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  return isLate ? 'It did not answer in time.' : 'It could not be reached.';
}

/** What follows from an answer. `gone`: the receiver wants nothing more, ever. */
export type DeliveryVerdict = 'delivered' | 'again' | 'gone';

export function verdictOf({ status }: ReceiverAnswer): DeliveryVerdict {
  if (status !== undefined && status >= 200 && status < 300) return 'delivered';
  return status === GONE ? 'gone' : 'again';
}

const GONE = 410;

/** The wait after so many failures, or as long as the receiver asks; null for no further one. `random` is 0 to 1. */
export function waitMs(
  attempts: number,
  { retryAfterMs = 0 }: ReceiverAnswer,
  random: number,
): number | null {
  const wait = DELIVERY_LIMITS.waitsMs[attempts];
  if (wait === undefined) return null;
  return Math.max(wait, retryAfterMs) * (1 + DELIVERY_LIMITS.jitter * random);
}
