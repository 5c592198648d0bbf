/** Logins at MCP servers: a private file for each server, in the bridge's state folder. */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { makePrivateFolders, readIfThere, replaceFile } from '../../../machine/private-files.ts';
import { parseIfJson } from '../../../shared/text/json.ts';

/** The fields that the SDK gives and takes back. It checks `issuer`, so that no token goes to a stranger. */
const Client = z.looseObject({
  client_id: z.string(),
  client_secret: z.string().optional(),
  issuer: z.string().optional(),
});
const Tokens = z.looseObject({
  access_token: z.string(),
  token_type: z.string(),
  refresh_token: z.string().optional(),
  /** What was granted. */
  scope: z.string().optional(),
  issuer: z.string().optional(),
});

const Login = z.object({
  /** Of the server. A login holds for no other address. */
  url: z.string(),
  /** Where the browser was sent back to. The client is registered with it. */
  redirectUrl: z.string(),
  client: Client,
  tokens: Tokens,
  /** What the server has demanded since, which the tokens do not grant: the next login asks for it. */
  scope: z.string().optional(),
});
export type McpLogin = z.infer<typeof Login>;

/** `serverFile` is the file that lists the servers. */
export function loginFileOf(serverFile: string, name: string): string {
  return join(dirname(serverFile), 'mcp-logins', `${name}.json`);
}

/** Undefined without a login for this address. */
export async function readLogin(file: string, url: string): Promise<McpLogin | undefined> {
  const text = await readIfThere(file).catch(() => undefined);
  const { data: login } = Login.safeParse(parseIfJson(text ?? ''));
  return login?.url === url ? login : undefined; // With a broken one the person logs in again.
}

export function saveLogin(file: string, login: McpLogin): void {
  makePrivateFolders(dirname(file));
  replaceFile(file, `${JSON.stringify(login)}\n`);
}

export function removeLogin(file: string): void {
  rmSync(file, { force: true });
}

/** The server demands a login that a person has to make. */
export class LoginNeeded extends Error {
  override readonly name = 'LoginNeeded';
}

/**
 * Uses a login, and keeps the tokens that replace old ones. It reads the file each time, so that a new login counts at
 * once. Where a person is needed, it throws {@link LoginNeeded}.
 */
export function storedLogin(file: string, login: McpLogin): OAuthClientProvider {
  const { url, redirectUrl } = login;
  const read = async () => (await readLogin(file, url)) ?? undefined;
  return {
    redirectUrl,
    clientMetadata: clientMetadata(redirectUrl),
    clientInformation: async () => (await read())?.client ?? login.client,
    tokens: async () => (await read())?.tokens,
    saveTokens: async (tokens) => {
      const scope = tokens.scope ?? (await read())?.tokens.scope;
      saveLogin(file, { ...login, tokens: { ...tokens, scope } });
    },
    invalidateCredentials: () => removeLogin(file),
    saveCodeVerifier: () => {},
    codeVerifier: () => '',
    redirectToAuthorization: async (url) => {
      const scope = url.searchParams.get('scope');
      const kept = await read();
      if (kept && scope !== null) saveLogin(file, { ...kept, scope });
      throw new LoginNeeded('The login has expired, or does not suffice.');
    },
  };
}

/** How Drawbridge registers at an authorization server: as a program without a secret. */
export function clientMetadata(redirectUrl: string): OAuthClientProvider['clientMetadata'] {
  return {
    client_name: 'Drawbridge',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}
