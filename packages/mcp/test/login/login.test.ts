import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, type MockInstance, onTestFinished, vi } from 'vitest';
import {
  type DemandedLogin,
  startHttpMcpServer,
} from '../../../../test/far-ends/mcp-http-server.ts';
import { startOAuthServer } from '../../../../test/far-ends/oauth-server.ts';
import { logIn } from '../../login/login.ts';
import { loginFileOf } from '../../login/login-file.ts';
import { startServers } from '../offering.ts';

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {});
});

async function startFar() {
  const oauth = await startOAuthServer();
  /** What the MCP server trusts; a test can change it. */
  const trusted: DemandedLogin = { url: oauth.url, isValid: oauth.isValid };
  const far = await startHttpMcpServer(0, trusted);
  onTestFinished(async () => {
    await far.close();
    await oauth.close();
  });
  const offering = startServers({ far: { url: far.url } });
  const file = loginFileOf(join(offering.folder, 'mcp.json'), 'far');
  const config = { url: far.url, headers: {}, disabled: false };
  /** Logs in as a person whose browser follows the page. */
  const visit = (open: (url: URL) => void = (url) => void fetch(url)) =>
    logIn(config, { file, onUrl: open });
  return { oauth, trusted, far, file, visit, ...offering };
}

it('a server that demands a login is down until there is one, and says what to do', async () => {
  const { visit, until, call, reports, file, oauth } = await startFar();
  await vi.waitFor(
    () =>
      expect(reports()).toMatchObject([
        {
          state: 'down',
          why: 'login',
          reason: 'it demands a login: run `drawbridge mcp login far`',
        },
      ]),
    10_000,
  );
  expect(await visit()).toBe(true);
  await until('mcp_far_shout');
  expect((await call('mcp_far_shout', { words: 'hello' })).data).toBe('HELLO');
  expect(oauth.grants).toEqual(['authorization_code']);
  expect(statSync(file).mode & 0o077).toBe(0);
  const { tokens } = JSON.parse(readFileSync(file, 'utf8'));
  expect(JSON.stringify(log.mock.calls)).not.toContain(tokens.access_token);
});

it('an old token is replaced without the person', async () => {
  const { visit, until, call, file, oauth } = await startFar();
  await visit();
  await until('mcp_far_shout');
  const before = readFileSync(file, 'utf8');
  oauth.expire();
  expect((await call('mcp_far_shout', { words: 'again' })).data).toBe('AGAIN');
  expect(oauth.grants).toContain('refresh_token');
  expect(readFileSync(file, 'utf8')).not.toBe(before);
});

it('a login that the server has revoked needs the person again', async () => {
  const { visit, until, call, oauth, reports } = await startFar();
  await visit();
  await until('mcp_far_shout');
  oauth.revoke();
  await expect(call('mcp_far_shout', { words: 'again' })).rejects.toMatchObject({
    code: 'SERVER_UNAVAILABLE',
  });
  await vi.waitFor(
    () => expect(reports()).toMatchObject([{ reason: expect.stringContaining('mcp login far') }]),
    10_000,
  );
  await visit();
  await until('mcp_far_shout');
});

it('a server that trusts another authorization server needs the person again, who registers there', async () => {
  const { visit, until, call, reports, trusted, file } = await startFar();
  await visit();
  await until('mcp_far_shout');
  const before = JSON.parse(readFileSync(file, 'utf8'));
  const other = await startOAuthServer();
  onTestFinished(() => other.close());
  Object.assign(trusted, { url: other.url, isValid: other.isValid });
  const failed = { code: 'SERVER_UNAVAILABLE' };
  await expect(call('mcp_far_shout', { words: 'again' })).rejects.toMatchObject(failed);
  await vi.waitFor(() => expect(reports()).toMatchObject([{ why: 'login' }]), 10_000);
  expect(await visit()).toBe(true);
  await vi.waitFor(
    async () => expect((await call('mcp_far_shout', { words: 'a' })).data).toBe('A'),
    10_000,
  );
  const after = JSON.parse(readFileSync(file, 'utf8'));
  expect(after.client.client_id).not.toBe(before.client.client_id);
  expect([before.client.issuer, after.client.issuer]).toEqual([expect.anything(), other.url]);
});

it('a call that needs more rights has the next login ask for them, beside the first ones', async () => {
  const { visit, until, call, trusted, oauth, file } = await startFar();
  trusted.scope = 'read';
  await visit();
  await until('mcp_far_shout');
  trusted.lacks = 'write';
  const failed = { code: 'SERVER_UNAVAILABLE' };
  await expect(call('mcp_far_shout', { words: 'a' })).rejects.toMatchObject(failed);
  delete trusted.lacks;
  await visit();
  expect(oauth.scopes).toEqual(['read', 'read write']);
  expect(JSON.parse(readFileSync(file, 'utf8'))).not.toHaveProperty('scope');
});

it('a login that the person refuses is none', async () => {
  const { visit, oauth } = await startFar();
  oauth.answer = 'deny';
  await expect(visit()).rejects.toThrow('The login was refused (access_denied).');
});

it('a page that does not know the state brings no code', async () => {
  const { visit } = await startFar();
  const answered: number[] = [];
  const isMade = await visit(async (url) => {
    const redirect = url.searchParams.get('redirect_uri') ?? '';
    const forged = await fetch(`${redirect}?code=stolen&state=guessed`);
    answered.push(forged.status);
    void fetch(url);
  });
  expect(answered).toEqual([404]);
  expect(isMade).toBe(true);
});

it('a server that lets everybody in needs no login', async () => {
  const far = await startHttpMcpServer();
  onTestFinished(() => far.close());
  const onUrl = vi.fn();
  const config = { url: far.url, headers: {}, disabled: false };
  expect(await logIn(config, { file: '/nonexistent/login', onUrl })).toBe(false);
  expect(onUrl).not.toHaveBeenCalled();
});
