/** What the operator of a server does to accounts, by the commands, against a server with a bridge. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../client/index.ts';
import { AccountExportLine } from '../../shared/api/accounts.ts';
import { callDrawbridge } from '../cli/called.ts';
import { oneHouse } from './one-house.ts';

const one = oneHouse();

function secretFile(): string {
  return join(one.house.state, 'auth-secret');
}

async function operate(...words: readonly string[]) {
  const at = ['--url', one.house.ready.url, '--secret-file', secretFile()];
  return await callDrawbridge([...words, ...at]);
}

async function tokenOf(account: string): Promise<string> {
  const words = ['token', '--for', account, '--secret-file', secretFile()];
  return (await callDrawbridge(words)).stdout.trim();
}

async function clientOf(account: string) {
  return createClient({ url: one.house.ready.url, token: await tokenOf(account) });
}

const MESSAGE = { messages: [{ role: 'user' as const, content: 'hello there' }] };

it('an invitation is listed and revoked, by its account and by the operator', async () => {
  const made = await operate('invite', 'ana');
  expect(made).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/revoke inv_\S+ --operator --url \S+ --secret-file \S+\n$/),
  });
  const listed = await operate('invitations', 'list', '--operator');
  const [id = ''] = /^inv_\S+/.exec(listed.stdout) ?? [];
  expect(listed.stdout).toContain(`${id}\tana\t20`);
  const as = ['--url', one.house.ready.url, '--token', await tokenOf('ana')];
  const own = await callDrawbridge(['invitations', 'list', '--json', ...as]);
  expect(JSON.parse(own.stdout)).toMatchObject({ id, account: 'ana' });
  expect((await operate('invitations', 'revoke', id, '--operator')).code).toBe(0);
  expect((await operate('invitations', 'revoke', id, '--operator')).code).toBe(2);
  expect((await callDrawbridge(['invitations', 'list', ...as])).stderr).toBe(
    'There is no unused invitation.\n',
  );
  const state = ['--state', join(one.house.folder, 'machine')];
  const login = await callDrawbridge(['login', made.stdout.trim(), ...state]);
  expect(login).toMatchObject({ code: 1, stderr: expect.stringContaining('ENTRY_ENDED') });
});

it('an account is suspended, resumed, exported and deleted, and the records say so', async () => {
  one.answerWith(() => ({ text: 'An answer.' }));
  const ben = await clientOf('ben');
  const { conversationId } = await ben.chat(MESSAGE);
  await ben.exportConversation(conversationId);
  expect(await operate('accounts', 'suspend', 'ben')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('ben  suspended since '),
  });
  await expect(ben.chat(MESSAGE)).rejects.toMatchObject({ code: 'ACCOUNT_SUSPENDED' });
  expect((await operate('accounts', 'resume', 'ben')).code).toBe(0);
  expect((await ben.chat({ ...MESSAGE, conversationId })).status).toBe('completed');

  const file = join(one.house.folder, 'ben.ndjson');
  expect((await operate('accounts', 'export', 'ben', '-o', file)).code).toBe(0);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const types = lines.map((line) => AccountExportLine.parse(JSON.parse(line)).type);
  expect(new Set(types)).toEqual(new Set(['account', 'usage', 'record', 'conversation', 'end']));
  expect((await operate('accounts', 'export', 'ben')).stdout.split('\n').length).toBeGreaterThan(3);

  const as = ['--url', one.house.ready.url, '--token', await tokenOf('ben')];
  const audit = await callDrawbridge(['audit', '--server', ...as]);
  expect(audit.stdout).toContain(`conversation_exported  ${conversationId}`);
  expect(audit.stdout).toContain('account_suspended  ben');

  expect((await operate('accounts', 'delete', 'ben')).stderr).toContain('--yes');
  const deleted = await operate('accounts', 'delete', 'ben', '--yes');
  expect(deleted).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Deleted ben: 1 conversations, 0 bridges, 0 sessions.'),
  });
  await expect(ben.chat(MESSAGE)).rejects.toMatchObject({ code: 'ACCOUNT_DELETED' });
  expect((await operate('accounts', 'delete', 'ben')).stderr).toContain('Deleted ben: 1 ');
  expect((await operate('accounts', 'show', 'ben')).stdout).toContain('ben  deleted since');
  const acts = (await operate('audit', '--operator')).stdout;
  expect(acts.match(/account_\w+ {2}ben/g)).toEqual([
    'account_deleted  ben',
    ...['account_exported  ben', 'account_exported  ben'],
    ...['account_resumed  ben', 'account_suspended  ben'],
  ]);
});

it('the bridge of a suspended account ends with the reason, if it has no other token', async () => {
  const { house } = one;
  const { account } = await house.client.getMe();
  await operate('accounts', 'suspend', account);
  await expect.poll(() => house.log()).toMatch(/suspended this account/);
  await operate('accounts', 'resume', account);
});

it.each(['nobody', 'a/b', '..%2f', 'ana\u202egnp'])(
  'there is no account %j to be suspended',
  async (account) => {
    for (const name of ['suspend', 'resume', 'show', 'export']) {
      expect(await operate('accounts', name, account)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('NOT_FOUND'),
      });
    }
  },
);

it.each(['', '..', '.', 'x'.repeat(301)])('%j is no name of an account', async (account) => {
  expect(await operate('accounts', 'suspend', account)).toMatchObject({ code: 2 });
});

it('an export that breaks off, or lacks its end, is reported as such', async () => {
  const server = createServer((request, response) => {
    response.write('{"type":"account"}\n');
    if (request.url?.includes('/cut/')) setTimeout(() => response.destroy(), 50);
    else response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const account of ['cut', 'short']) {
    const at = ['--url', url, '--secret-file', secretFile()];
    expect(await callDrawbridge(['accounts', 'export', account, ...at])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('incomplete'),
    });
  }
});
