/** A session: a key of this device that acts for a person's account. How it gets in, and the tokens that it gets. */
import type { PasskeyLogin } from '../shared/api/passkeys.ts';
import type { Login, NewSession, SessionKind, SessionToken } from '../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../shared/limits.ts';
import { makeProof, type ProofSigner } from '../shared/wire/proof.ts';
import { LOGIN_PROOF } from '../shared/wire/tokens.ts';
import type { ClientOptions, TokenSource } from './api.ts';
import { makeKey } from './device.ts';
import { ClientError, clientError } from './error.ts';
import { createSend, readJson } from './send.ts';
import { isAnswer } from './shapes.ts';

/** The key of a session. IndexedDB stores the whole object; a program keeps the private half in a file. */
export type SessionSigner = ProofSigner;

/** What the device calls itself, and what it is. */
export interface SessionHolder {
  readonly name: string;
  readonly kind: SessionKind;
}

/** A server without a token. */
export type Server = Omit<ClientOptions, 'token'>;

/** A session as its device keeps it, beside its key. */
export interface KeptSession extends NewSession {
  readonly signer: SessionSigner;
}

/** A new key, of a session alone. A program that keeps it in a file makes it exportable. */
export async function newSessionKey(isExportable = false): Promise<SessionSigner> {
  return await makeKey(isExportable);
}

/** Asks a person to let this device in: shows them `code` and the fingerprint of the key. {@link enter} waits for them. */
export async function beginLogin(
  server: Server,
  holder: SessionHolder,
  signer: SessionSigner,
  signal?: AbortSignal,
): Promise<Login> {
  return await withClock(async (offMs) => {
    const proof = await prove(signer, LOGIN_PROOF, offMs, server);
    return await post(server, 'logins', { ...holder, proof }, isAnswer.login, signal);
  });
}

/**
 * Makes a session with the secret of an invitation or a login. Safe to repeat with the same key.
 * @throws {ClientError} `LOGIN_PENDING` while the person has not decided; `LOGIN_REFUSED` and `ENTRY_ENDED` for good.
 */
export async function enter(
  server: Server,
  secret: string,
  holder: SessionHolder,
  signer: SessionSigner,
  signal?: AbortSignal,
): Promise<NewSession> {
  return await withClock(async (offMs) => {
    const proof = await prove(signer, secret, offMs, server);
    return await post(
      server,
      'sessions',
      { secret, ...holder, proof },
      isAnswer.newSession,
      signal,
    );
  });
}

/**
 * Approves this device's own login by a passkey of its person, who has signed `loginText(secret)` with it. Then
 * {@link enter} gets in.
 * @throws {ClientError} `PASSKEY_REFUSED` for a passkey that was removed, or did not sign it; `ENTRY_ENDED`.
 */
export async function approveByPasskey(
  server: Server,
  login: PasskeyLogin,
  signal?: AbortSignal,
): Promise<void> {
  await postTo(server, 'passkeys/login', login, signal);
}

/**
 * The tokens of a session, as a client or a bridge asks for them: each is kept until it is nearly over or refused. With
 * `bridge` they run that bridge. Rejects with `SESSION_ENDED` for good: forget the session then.
 */
export function sessionTokens(
  server: Server,
  { account, session, signer }: KeptSession,
  bridge?: string,
): TokenSource {
  let kept: { readonly token: string; readonly untilMs: number } | undefined;
  let asking: Promise<string> | undefined;
  const ask = async () => {
    const startedMs = Date.now();
    const { token, expires } = await withClock(async (offMs) => {
      const proof = await prove(signer, session, offMs);
      const body = { account, session, proof, ...(bridge !== undefined && { bridge }) };
      const answer = await postInTime(server, body);
      // By this machine's clock, whatever it shows.
      return { ...answer, expires: Date.parse(answer.expires) - offMs };
    });
    const untilMs = Math.min(expires, startedMs + SESSION_LIMITS.tokenMs);
    kept = { token, untilMs: untilMs - SESSION_LIMITS.renewMs };
    return token;
  };
  return async (refused) => {
    if (kept && kept.token !== refused && Date.now() < kept.untilMs) return kept.token;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return await asking;
  };
}

/** A request that never ended would hold back every later one. */
async function postInTime(server: Server, body: object): Promise<SessionToken> {
  const signal = AbortSignal.timeout(SESSION_LIMITS.answerMs);
  try {
    return await post(server, 'sessions/token', body, isAnswer.sessionToken, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    const seconds = SESSION_LIMITS.answerMs / 1_000;
    throw clientError('UNREACHABLE', `${server.url} gave no token within ${seconds} s`, error);
  }
}

async function post<T>(
  server: Server,
  path: string,
  body: object,
  is: (value: unknown) => value is T,
  signal?: AbortSignal,
): Promise<T> {
  return await readJson(await postTo(server, path, body, signal), is, signal);
}

async function postTo(
  server: Server,
  path: string,
  body: object,
  signal: AbortSignal | undefined,
): Promise<Response> {
  // A redirect would take a proof, or the secret of an invitation, to another place.
  const { fetch = globalThis.fetch } = server;
  const direct: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' });
  const send = createSend({ ...server, fetch: direct, token: '' });
  return await send(path, { method: 'POST', body, signal });
}

/** Tries again by the server's clock, if this machine's is wrong. */
async function withClock<T>(work: (offMs: number) => Promise<T>): Promise<T> {
  try {
    return await work(0);
  } catch (error) {
    if (!(error instanceof ClientError && error.code === 'CLOCK_OFF')) throw error;
    const { nowMs }: { nowMs?: unknown } = Object(error.details);
    if (typeof nowMs !== 'number') throw error;
    return await work(nowMs - Date.now());
  }
}

/** With `server` the key is new there. */
async function prove(
  signer: SessionSigner,
  subject: string,
  offMs: number,
  server?: Server,
): Promise<string> {
  const host = server && hostOf(server.url);
  return await makeProof(signer, { subject, nowMs: Date.now() + offMs, server: host });
}

/** The address of a page's own server may be a path. */
function hostOf(url: string): string {
  const { href }: { href?: string } = Object(Object(globalThis).location);
  return URL.canParse(url, href) ? new URL(url, href).hostname : '';
}
