/** The Worker as tests inside workerd talk to it: tokens, requests, and a scripted model behind `fetch`. */
import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { SignJWT } from 'jose';
import { vi } from 'vitest';
import type { WireError } from '../../shared/errors.ts';
import { MINUTE } from '../../shared/units.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import {
  decodeSecrets,
  MIN_SECRET_BYTES,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
} from '../../shared/wire/tokens.ts';
import {
  framesOf,
  type ScriptedReply,
  type ScriptedRequest,
  streamOf,
} from '../far-ends/reply-script.ts';

const MODEL_URL = 'http://model.test/v1/chat/completions';

export interface TokenOptions {
  readonly account?: string;
  readonly claims?: Record<string, unknown>;
  readonly expires?: string;
  /** When it says that it was made; by default it does not say it. */
  readonly issued?: string;
  readonly secret?: string;
}

/** The bridge of the folder that each account's person stands in: the one that a test has connected last. */
export const standsAt = new Map<string, string>();

/** The accounts that got a token in this file. */
export const accountsCalled = new Set<string>();

/** Tokens that say the same: signing one, and checking it, costs more than most requests. */
const signed = new Map<string, { readonly token: string; readonly madeMs: number }>();
/** Where a test moves the clock, it gets another one. */
const MAX_AGE_MS = MINUTE;

export async function tokenFor(options: TokenOptions = {}): Promise<string> {
  const { account = 'ada', expires, issued, secret } = options;
  accountsCalled.add(account);
  const { claims = { scope: 'user', bridge: standsAt.get(account) } } = options;
  if (expires ?? issued ?? secret) return await sign({ ...options, account, claims });
  const key = JSON.stringify([account, claims]);
  const known = signed.get(key);
  if (known && Math.abs(Date.now() - known.madeMs) < MAX_AGE_MS) return known.token;
  const token = await sign({ account, claims });
  signed.set(key, { token, madeMs: Date.now() });
  return token;
}

async function sign({
  account,
  claims,
  expires = '1h',
  issued,
  secret,
}: TokenOptions & Required<Pick<TokenOptions, 'account' | 'claims'>>): Promise<string> {
  const decoded = decodeSecrets(secret ?? env.AUTH_SECRET ?? '');
  const key = decoded.ok ? decoded.secrets[0] : new Uint8Array(MIN_SECRET_BYTES);
  const jwt = new SignJWT(claims);
  if (issued !== undefined) jwt.setIssuedAt(issued);
  return await jwt
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(account)
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TOKEN_AUDIENCE)
    .setExpirationTime(expires)
    .sign(key);
}

/** A request to `/api/v1/...` as `account`; `body` is sent as JSON unless it is text. */
export async function call(
  path: string,
  {
    body,
    method = body === undefined ? 'GET' : 'POST',
    account = 'ada',
    headers = {},
    signal,
  }: {
    body?: unknown;
    method?: string;
    account?: string;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  } = {},
): Promise<Response> {
  return await SELF.fetch(`https://drawbridge.test/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${await tokenFor({ account })}`, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

/** A message; what more is given goes into the body, but for the `account` that sends it. */
export function ask(
  content: string,
  { account, ...more }: { account?: string; [field: string]: unknown } = {},
): Promise<Response> {
  const body = { messages: [{ role: 'user', content }], ...more };
  return call('chat/completions', { body, ...(account !== undefined && { account }) });
}

export async function chat(
  content: string,
  more: Parameters<typeof ask>[1] = {},
): Promise<ChatResponse> {
  return await (await ask(content, more)).json();
}

/** The error of an answer, without its trace id, which every request has another one of. */
export async function errorOf(
  response: Response,
): Promise<WireError['error'] & { status: number }> {
  const { traceId: _, ...error } = ((await response.json()) as WireError).error;
  return { status: response.status, ...error };
}

/** An answer of the model: a reply, or a whole HTTP response. */
export type ModelAnswer = ScriptedReply | Response | Promise<Response>;

/** Puts a model behind the Worker's `fetch` and returns the requests that it gets. */
export function scriptModel(
  script: (request: ScriptedRequest, number: number) => ModelAnswer,
): ScriptedRequest[] {
  const requests: ScriptedRequest[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url !== MODEL_URL) throw new Error(`unexpected request to ${request.url}`);
    requests.push(await request.json());
    const answer = await script(requests.at(-1) as ScriptedRequest, requests.length - 1);
    return answer instanceof Response ? answer : streamOf(framesOf(answer));
  });
  return requests;
}
