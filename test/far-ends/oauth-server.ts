/** A small authorization server for an MCP server: registration, PKCE, a login page that says yes, refresh. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface OAuthServer {
  readonly url: string;
  /** What the login page does with the person. */
  answer: 'allow' | 'deny';
  /** Whether a bearer header holds a token of this server. */
  readonly isValid: (authorization: string | undefined) => boolean;
  /** Ends all access tokens; they can be refreshed. */
  readonly expire: () => void;
  /** Ends everything: a person has to log in again. */
  readonly revoke: () => void;
  /** What was asked of the token endpoint. */
  readonly grants: readonly string[];
  /** What each visit of the login page asked for. */
  readonly scopes: readonly (string | null)[];
  readonly close: () => Promise<void>;
}

interface Code {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
}

export async function startOAuthServer(): Promise<OAuthServer> {
  const clients = new Map<string, string[]>();
  const codes = new Map<string, Code>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  const grants: string[] = [];
  const scopes: (string | null)[] = [];
  const http = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', server.url);
    const route = ROUTES[url.pathname];
    if (route) await route(url, request, response);
    else response.writeHead(404).end();
  });
  type Route = (
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<void> | void;
  const ROUTES: Record<string, Route> = {
    '/.well-known/oauth-authorization-server': (_, __, response) =>
      sendJson(response, 200, {
        issuer: server.url,
        authorization_endpoint: `${server.url}/authorize`,
        token_endpoint: `${server.url}/token`,
        registration_endpoint: `${server.url}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      }),
    '/register': async (_, request, response) => {
      const wanted = JSON.parse(await text(request));
      const client_id = randomUUID();
      clients.set(client_id, wanted.redirect_uris);
      sendJson(response, 201, { ...wanted, client_id });
    },
    '/authorize': ({ searchParams }, _, response) => {
      const get = (name: string) => searchParams.get(name) ?? '';
      const [clientId, redirectUri] = [get('client_id'), get('redirect_uri')];
      scopes.push(searchParams.get('scope'));
      if (!clients.get(clientId)?.includes(redirectUri)) return void response.writeHead(400).end();
      const back = new URL(redirectUri);
      back.searchParams.set('state', get('state'));
      const code = randomUUID();
      if (server.answer === 'allow') {
        codes.set(code, { challenge: get('code_challenge'), redirectUri, clientId });
        back.searchParams.set('code', code);
      } else back.searchParams.set('error', 'access_denied');
      response.writeHead(302, { location: back.href }).end();
    },
    '/token': async (_, request, response) => {
      const form = new URLSearchParams(await text(request));
      const get = (name: string) => form.get(name) ?? '';
      grants.push(get('grant_type'));
      const isFirst = get('grant_type') === 'authorization_code' && isRedeemed(get);
      const isAgain = get('grant_type') === 'refresh_token' && refresh.delete(get('refresh_token'));
      if (!isFirst && !isAgain) return sendJson(response, 400, { error: 'invalid_grant' });
      const [access_token, refresh_token] = [randomUUID(), randomUUID()];
      access.add(access_token);
      refresh.add(refresh_token);
      sendJson(response, 200, { access_token, refresh_token, token_type: 'Bearer' });
    },
  };
  function isRedeemed(get: (name: string) => string): boolean {
    const code = codes.get(get('code'));
    codes.delete(get('code'));
    const challenge = createHash('sha256').update(get('code_verifier')).digest('base64url');
    return (
      code?.challenge === challenge &&
      code.redirectUri === get('redirect_uri') &&
      code.clientId === get('client_id')
    );
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const server: OAuthServer = {
    url: `http://127.0.0.1:${port}`,
    answer: 'allow',
    isValid: (authorization = '') => access.has(authorization.replace(/^Bearer /, '')),
    expire: () => access.clear(),
    revoke: () => {
      access.clear();
      refresh.clear();
    },
    grants,
    scopes,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
