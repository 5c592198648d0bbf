/** Logs a person in at an MCP server, through the browser: OAuth with PKCE, and this machine as the redirect's place. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client,
  computeScopeUnion,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { newDeferred } from '../../../machine/deferred.ts';
import { LocalError } from '../../../machine/local-error.ts';
import { MCP_LIMITS } from '../limits.ts';
import { takePlainResults } from '../plain-results.ts';
import type { HttpConfig } from '../server-list.ts';
import { clientMetadata, type McpLogin, readLogin, saveLogin } from './login-file.ts';

export interface LoginPlace {
  /** Where the login is kept. */
  readonly file: string;
  /** Shows the person the address to open. It is http or https. */
  readonly onUrl: (url: URL) => void;
}

/**
 * Resolves with whether a login was made: false for a server that demands none. Rejects with a {@link LocalError} when
 * the person or the server refuses, and after `MCP_LIMITS.loginMs`.
 */
export async function logIn(
  { url, headers, oauth }: HttpConfig,
  { file, onUrl }: LoginPlace,
): Promise<boolean> {
  await using redirect = await openRedirect();
  const scope = (await readLogin(file, url))?.scope;
  const kept: StoredLogin = {
    ...(oauth && { client: { client_id: oauth.clientId, client_secret: oauth.clientSecret } }),
    ...(scope !== undefined && { scope }),
  };
  const provider = personsLogin({ redirect, kept, onUrl });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    authProvider: provider,
  });
  const client = new Client(
    { name: 'drawbridge', version: '0.1.0' },
    { versionNegotiation: { mode: 'auto' } },
  );
  try {
    await client.connect(transport, { timeout: MCP_LIMITS.connectMs });
    takePlainResults(transport);
    // Some servers demand it only here.
    if (client.getServerCapabilities()?.tools) await client.listTools();
    return false;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw refused(error);
    await transport.finishAuth(await redirect.answer).catch((failure: unknown) => {
      throw refused(failure);
    });
  } finally {
    await client.close();
  }
  const { client: registered, tokens } = kept;
  if (!registered || !tokens) throw new LocalError('refused', 'The server gave no token.');
  saveLogin(file, { url, redirectUrl: redirect.url, client: registered, tokens });
  return true;
}

function refused(error: unknown): LocalError {
  if (error instanceof LocalError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new LocalError('refused', `The server does not let you in: ${why}`);
}

interface StoredLogin extends Partial<Pick<McpLogin, 'client' | 'tokens'>> {
  discovery?: OAuthDiscoveryState;
  /** What is asked for. */
  scope?: string;
}

/** What the SDK needs of a person who is at the browser. Registers anew, since the port of the redirect is new. */
function personsLogin({
  redirect,
  kept,
  onUrl,
}: {
  readonly redirect: Redirect;
  readonly kept: StoredLogin;
  readonly onUrl: (url: URL) => void;
}): OAuthClientProvider {
  let verifier = '';
  return {
    redirectUrl: redirect.url,
    clientMetadata: clientMetadata(redirect.url),
    state: () => redirect.state,
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      // A server that grants what was asked for need not say so.
      kept.tokens = { ...tokens, scope: tokens.scope ?? kept.scope };
    },
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (discovery) => {
      kept.discovery = discovery;
    },
    saveCodeVerifier: (made) => {
      verifier = made;
    },
    codeVerifier: () => verifier,
    redirectToAuthorization: (url) => {
      if (!['http:', 'https:'].includes(url.protocol))
        throw new LocalError('refused', 'The server names a login page that is no web address.');
      const scope = computeScopeUnion(url.searchParams.get('scope') ?? undefined, kept.scope);
      if (scope !== undefined) {
        kept.scope = scope;
        url.searchParams.set('scope', scope);
      }
      onUrl(url);
    },
  };
}

interface Redirect extends AsyncDisposable {
  readonly url: string;
  /** Random text that comes back with the code, so that no other page can send one. */
  readonly state: string;
  /** Resolves with what the browser brings. */
  readonly answer: Promise<URLSearchParams>;
}

/** Listens on this machine for the browser's return. */
async function openRedirect(): Promise<Redirect> {
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const answer = newDeferred<URLSearchParams>();
  answer.promise.catch(() => {}); // It may fail before anybody waits.
  const server = createServer((request, response) => receive(request, response, { state, answer }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const late = new LocalError('refused', 'The login took too long: run the command again.');
  const timer = setTimeout(() => answer.reject(late), MCP_LIMITS.loginMs);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${CALLBACK}`,
    state,
    answer: answer.promise,
    [Symbol.asyncDispose]: async () => {
      clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CALLBACK = '/callback';
const STATE_BYTES = 24;

function receive(
  { url = '/', method }: IncomingMessage,
  response: ServerResponse,
  {
    state,
    answer,
  }: { readonly state: string; readonly answer: ReturnType<typeof newDeferred<URLSearchParams>> },
): void {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const isOurs = method === 'GET' && pathname === CALLBACK;
  if (!isOurs || !isSame(searchParams.get('state') ?? '', state)) {
    response.writeHead(404).end();
    return;
  }
  const given = searchParams.get('code');
  const words = given ? 'You are logged in. You can close this page.' : 'The login was refused.';
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(words, () => {
    if (given) answer.resolve(searchParams);
    else
      answer.reject(
        new LocalError('refused', `The login was refused (${searchParams.get('error')}).`),
      );
  });
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
