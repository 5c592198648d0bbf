import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newSessionId } from '../../../shared/ids.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';

const LINK = `#join=dbi_${'x'.repeat(43)}`;
const ODD = 'ana\u001b]0;owned\u0007\u001b[2K\u202e\r\nSigned in at https://bank.example';

/** A server whose answers the test gives; each request body is kept. */
async function serve(answers: Readonly<Record<string, unknown>>) {
  return await listen((request, response) => {
    const answer = answers[`${request.method} ${request.url}`];
    response.statusCode = answer === undefined ? 404 : 201;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer ?? {}));
  });
}

async function listen(onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function newMachine() {
  const home = temporaryFolder();
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
  };
  return {
    file: join(home, 'state', 'drawbridge', 'server', 'logins.json'),
    run: (...args: string[]) => callDrawbridge(args, { env, cwd: home }),
  };
}

const SESSION = newSessionId('00000000-0000-4000-8000-000000000000');

it.each([
  ['a session of another form', { session: '../evil', account: 'ana' }],
  ['an account without a name', { session: SESSION, account: '' }],
  ['an account that fills the file', { session: SESSION, account: 'x'.repeat(5_000_000) }],
])(
  'a server that answers a login with %s leaves the sessions elsewhere as they were',
  async (_, answer) => {
    const machine = newMachine();
    const good = await serve({ 'POST /api/v1/sessions': { session: SESSION, account: 'ana' } });
    expect(await machine.run('login', `${good}/${LINK}`)).toMatchObject({ code: 0 });
    const before = readFileSync(machine.file, 'utf8');
    const evil = await serve({ 'POST /api/v1/sessions': answer });
    const { code, stderr } = await machine.run('login', `${evil}/${LINK}`);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('no session') });
    expect(readFileSync(machine.file, 'utf8')).toBe(before);
  },
);

it('a redirect takes neither the proof nor the secret of an invitation elsewhere', async () => {
  const seen: string[] = [];
  const other = await listen((request, response) => {
    seen.push(request.url ?? '');
    response.end('{}');
  });
  const first = await listen((request, response) => {
    request.resume();
    response.writeHead(307, { location: `${other}${request.url}` }).end();
  });
  const machine = newMachine();
  for (const link of [`${first}/${LINK}`, first]) {
    const { code, stderr } = await machine.run('login', link);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(status 307): check the address'),
    });
  }
  expect(seen).toEqual([]);
});

it('what a server answers cannot control the terminal', async () => {
  const machine = newMachine();
  const key = { kty: 'EC', crv: 'P-256', x: 'x'.repeat(43), y: 'y'.repeat(43) };
  const url = await serve({
    'POST /api/v1/sessions': { session: SESSION, account: ODD },
    'POST /api/v1/sessions/token': { token: 'abc', expires: '2100-01-01T00:00:00.000Z' },
    'POST /api/v1/invitations': { id: ODD, secret: ODD, link: ODD, account: ODD, expires: ODD },
    'GET /api/v1/invitations': {
      items: [{ id: ODD, account: ODD, by: ODD, created: ODD, expires: ODD }],
    },
    'GET /api/v1/sessions': {
      items: [{ id: ODD, name: ODD, kind: ODD, key, lastUsed: ODD, created: ODD, current: true }],
    },
  });
  for (const args of [
    ['login', `${url}/${LINK}`],
    ['login', url],
    ['invite', '--url', url],
    ['invitations', '--url', url],
    ['sessions', '--url', url],
  ]) {
    const { stdout, stderr } = await machine.run(...args);
    const shown = stdout + stderr;
    expect(shown).toContain('bank.example');
    for (const control of ['\u0007', '\u001b', '\u202e', '\r'])
      expect(shown).not.toContain(control);
    expect(shown).not.toMatch(/^Signed in at https:\/\/bank/m);
  }
});

it('a list of sessions with odd entries is refused in one sentence', async () => {
  const machine = newMachine();
  const url = await serve({
    'POST /api/v1/sessions': { session: SESSION, account: 'ana' },
    'POST /api/v1/sessions/token': { token: 'abc', expires: 'never' },
    'GET /api/v1/sessions': { items: [{ id: 'x', name: 'x', current: true }] },
  });
  await machine.run('login', `${url}/${LINK}`);
  const { code, stderr } = await machine.run('sessions', '--url', url);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('unexpected form') });
});

it('the file of the sessions is for its owner alone, and a damaged one stays and is named', async () => {
  const machine = newMachine();
  const url = await serve({ 'POST /api/v1/sessions': { session: SESSION, account: 'ana' } });
  await machine.run('login', `${url}/${LINK}`);
  expect(statSync(machine.file).mode & 0o777).toBe(0o600);
  for (const damaged of ['', '{', '[]', '{"logins":[{"url":1}]}', '\0']) {
    writeFileSync(machine.file, damaged);
    for (const args of [['login', `${url}/${LINK}`], ['logout'], ['chat', '--url', url, 'hi']]) {
      const { code, stderr } = await machine.run(...args);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(machine.file) });
    }
    expect(readFileSync(machine.file, 'utf8')).toBe(damaged);
  }
});

it('a file in the workspace does not choose the server of its commands', async () => {
  const machine = newMachine();
  const folder = temporaryFolder();
  for (const place of [folder, join(folder, '.drawbridge')]) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'remote.json'), JSON.stringify({ url: 'http://127.0.0.1:9' }));
  }
  const { stderr } = await machine.run('chat', '--workspace', folder, 'hi');
  expect(stderr).toContain('No Drawbridge runs');
  expect(stderr).not.toContain('127.0.0.1:9');
});
