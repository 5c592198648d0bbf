/** People at one server, as they use it: two persons, three machines, and what the end of a session does to each. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { HAS_TERMINALS } from '../cli/pseudo-terminal.ts';
import { type House, startHouse } from './house.ts';
import { invitation, type Machine, newMachine, signInWith } from './other-machine.ts';

let house: House;

beforeAll(async () => {
  house = await startHouse({ args: ['--no-bridge'] });
});

afterAll(() => house?.[Symbol.asyncDispose]());

async function invited(account: string): Promise<Machine> {
  const machine = newMachine();
  await signInWith(machine, await invitation(house, account));
  return machine;
}

/** Connects a folder and waits for its bridge. */
async function connect(machine: Machine, folder: string) {
  const bridge = machine.start(['connect', house.ready.url], folder);
  onTestFinished(() => void bridge.process.kill());
  await expect.poll(bridge.stderr, { timeout: 60_000 }).toContain('Connected.');
  return bridge;
}

describe('a new developer', () => {
  it('gets from the invitation to an answer by two commands, and in another folder by one more', async () => {
    const machine = await invited('ana');
    onTestFinished(async () => void (await machine.run(['stop'])));
    const [one, two] = [machine.folder('one'), machine.folder('two')];
    const at = ['--to', house.ready.url, '--port', '0'];
    for (const folder of [one, two]) {
      const { stdout, code } = await machine.run([...at, '-p', 'list the files here'], folder);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('of-') });
      expect(stdout).toContain(folder === one ? 'of-one.txt' : 'of-two.txt');
      expect(stdout).not.toContain(folder === one ? 'of-two.txt' : 'of-one.txt');
    }
    expect((await machine.run(['conversations'], one)).stdout).toContain('list the files here');
  });

  it('finds an invitation used that another machine has taken', async () => {
    const link = await invitation(house, 'ana');
    const [first, second] = [newMachine(), newMachine()];
    expect((await first.run(['login', link])).code).toBe(0);
    const late = await second.run(['login', link]);
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('was used') });
    expect((await first.run(['login', link])).stderr).toContain('is signed in');
  });

  it.each([
    ['agent.example.com', 2, 'must begin with'],
    ['http://127.0.0.1:9/#join=dbi_x', 2, 'incomplete'],
    ['http://127.0.0.1:9', 1, 'cannot be reached'],
  ])('is told what is wrong with %s', async (link, code, text) => {
    expect(await newMachine().run(['login', link])).toMatchObject({
      code,
      stderr: expect.stringContaining(text),
    });
  });
});

it.skipIf(!HAS_TERMINALS)('a machine of a server elsewhere is asked for no model', async () => {
  const ana = await invited('ana');
  onTestFinished(async () => void (await ana.run(['stop'])));
  const words = ['start', '--to', house.ready.url, '--port', '0'];
  const terminal = ana.terminal(words, ana.folder('work'));
  await expect.poll(terminal.screen).toContain('Connected to');
});

describe.skipIf(!HAS_TERMINALS)('a machine without a secret', () => {
  async function askToBeLetIn() {
    const machine = newMachine();
    const asking = machine.start(['login', house.ready.url]);
    await expect.poll(asking.stderr, { timeout: 30_000 }).toContain('Fingerprint');
    const text = asking.stderr();
    const [, code = ''] = /Code +(\S+)/.exec(text) ?? [];
    const [, fingerprint = ''] = /Fingerprint +(\S+)/.exec(text) ?? [];
    return { machine, asking, code, fingerprint };
  }

  it('is let in by a person at another machine, who sees the same fingerprint', async () => {
    const ana = await invited('ana');
    const { machine, asking, code, fingerprint } = await askToBeLetIn();
    expect(asking.stderr()).toContain(`sessions approve ${code} --url ${house.ready.url}\``);
    const unasked = await ana.run(['sessions', 'approve', code, '--url', house.ready.url]);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('no terminal') });
    const terminal = ana.terminal(['sessions', 'approve', code, '--url', house.ready.url]);
    await terminal.shows('refuses it:');
    expect(terminal.screen()).toContain(fingerprint);
    terminal.type('y\r');
    expect((await terminal.finished).code).toBe(0);
    expect(await asking.finished).toMatchObject({ code: 0 });
    const listed = await machine.run(['sessions', '--url', house.ready.url]);
    expect(listed.stdout).toMatch(new RegExp(`${fingerprint}.*\\(this one\\)`));
  });

  it('is refused by a person, and says so', async () => {
    const ana = await invited('ana');
    const { machine, asking, code } = await askToBeLetIn();
    const terminal = ana.terminal(['sessions', 'approve', code, '--url', house.ready.url]);
    await terminal.shows('refuses it:');
    terminal.type('n\r');
    expect((await terminal.finished).code).toBe(0);
    expect(await asking.finished).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('refused this login'),
    });
    expect((await machine.run(['logout'])).stderr).toContain('not signed in anywhere');
  });
});

describe('behind a proxy that wants a header of its own', () => {
  it('a machine signs in, connects and chats with the headers of its file, and not without', async () => {
    const proxy = await startProxy(new URL(house.ready.url));
    const ana = newMachine();
    const folder = ana.folder('behind');
    const link = (await invitation(house, 'ana')).replace(house.ready.url, proxy);
    const without = await ana.run(['login', link]);
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('check the address'),
    });
    const file = join(folder, 'headers');
    writeFileSync(file, 'authorization: Bearer x\n');
    expect((await ana.run(['login', link, '--header-file', file])).stderr).toContain('no header');
    writeFileSync(file, 'cf-access-client-id: ana\ncf-access-client-secret: s3cret\n');
    expect(await ana.run(['login', link, '--header-file', file])).toMatchObject({ code: 0 });
    const bridge = ana.start(['connect', proxy], folder);
    onTestFinished(() => void bridge.process.kill());
    await expect.poll(bridge.stderr, { timeout: 60_000 }).toContain('Connected.');
    expect((await ana.run(['chat', 'list the files here'], folder)).stdout).toContain('of-behind');
  });
});

/** Passes on only what has the header; like Cloudflare Access, it answers the rest with a page. */
async function startProxy(target: URL): Promise<string> {
  const mayPass = ({ headers }: IncomingMessage) => headers['cf-access-client-secret'] === 's3cret';
  const forward = (asked: IncomingMessage) =>
    request(new URL(asked.url ?? '/', target), { method: asked.method, headers: asked.headers });
  const proxy = createServer((asked, answer) => {
    if (!mayPass(asked)) return void answer.writeHead(403).end('<h1>Sign in</h1>');
    const passed = forward(asked);
    passed.on('response', (got) => got.pipe(answer.writeHead(got.statusCode ?? 502, got.headers)));
    asked.pipe(passed);
  });
  proxy.on('upgrade', (asked, socket) => {
    if (!mayPass(asked)) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const passed = forward(asked);
    passed.on('upgrade', (got, inner) => {
      const lines = got.rawHeaders.map((text, at) => (at % 2 ? `${text}\r\n` : `${text}: `));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
      inner.pipe(socket).pipe(inner);
    });
    passed.end();
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe('the end of a session', () => {
  it('stops its bridge and its chats, forgets its key, and leaves the other person alone', async () => {
    const [laptop, desk, ben] = [await invited('ana'), await invited('ana'), await invited('ben')];
    const folder = desk.folder('work');
    const bridge = await connect(desk, folder);
    const others = await connect(ben, ben.folder('bens'));
    const at = ['--url', house.ready.url];
    const { stdout } = await desk.run(['sessions', '--json', ...at]);
    const own = stdout.split('\n').find((line) => line.includes('"current":true')) ?? '';
    const { id } = JSON.parse(own) as { id: string };
    expect((await ben.run(['sessions', 'end', id, ...at])).stderr).toContain('There is no session');
    expect((await laptop.run(['sessions', 'end', id, ...at])).code).toBe(0);

    expect(await bridge.finished).toMatchObject({ code: 1 });
    expect(bridge.stderr()).toContain('sign in again');
    const refused = await desk.run(['chat', 'hello'], folder);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('was ended') });
    expect(JSON.parse(desk.logins())).toEqual({ logins: [] });
    const told = await desk.run(['chat', 'hello'], folder);
    expect(told).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('where this machine is not signed in'),
    });

    const again = desk.start(['login', '-'], undefined, await invitation(house, 'ana'));
    expect((await again.finished).code).toBe(0);
    await connect(desk, folder);
    expect((await desk.run(['chat', 'list the files here'], folder)).stdout).toContain('of-work');
    expect(others.process.exitCode).toBeNull();
    const signedOut = await ben.run(['logout']);
    expect(signedOut).toMatchObject({ code: 0 });
    expect(await others.finished).toMatchObject({ code: 1 });
  });

  it('also stops a folder that the background server has connected, which then says why', async () => {
    const ana = await invited('ana');
    const folder = ana.folder('kept');
    const start = ['start', '--to', house.ready.url];
    onTestFinished(async () => void (await ana.run(['stop'])));
    const stranger = newMachine();
    const unknown = await stranger.run(start, stranger.folder('unknown'));
    expect(unknown.stderr).toContain('is not signed in');
    expect((await stranger.run(['status'])).stderr).toContain('No server runs');
    expect(await ana.run([...start, '--port', '0'], folder)).toMatchObject({ code: 0 });
    expect((await ana.run(['chat', 'list the files here'], folder)).stdout).toContain('of-kept');
    await ana.run(['stop']);
    expect(await ana.run(['start', '--port', '0'], folder)).toMatchObject({ code: 0 });
    const status = async () => (await ana.run(['status'])).stdout;
    expect(await status()).toContain(`kept (at ${house.ready.url})`);
    expect((await ana.run(['chat', 'list the files here'], folder)).stdout).toContain('of-kept');
    expect((await ana.run(['logout'])).code).toBe(0);
    await expect.poll(status, { timeout: 20_000 }).toContain('sign in again');
    expect((await ana.run(['disconnect'], folder)).code).toBe(0);
    expect(await ana.run(['start'], folder)).toMatchObject({ code: 0 });
    expect(await status()).not.toContain('(at ');
  });
});

describe('the operator', () => {
  async function operate(...words: readonly string[]) {
    const secretFile = join(house.state, 'auth-secret');
    return await runDrawbridge([...words, '--url', house.ready.url, '--secret-file', secretFile]);
  }

  it('suspends a person, whose bridge comes back by itself, and deletes them for good', async () => {
    const carl = await invited('carl');
    const folder = carl.folder('work');
    const bridge = await connect(carl, folder);
    expect((await operate('accounts', 'suspend', 'carl')).code).toBe(0);
    await expect.poll(bridge.stderr, { timeout: 20_000 }).toContain('suspended this account');
    const refused = await carl.run(['chat', 'hello'], folder);
    expect(refused).toMatchObject({ stderr: expect.stringContaining('suspended this account') });
    expect(bridge.process.exitCode).toBeNull();

    expect((await operate('accounts', 'resume', 'carl')).code).toBe(0);
    const ask = async () => (await carl.run(['chat', 'list the files here'], folder)).stdout;
    await expect.poll(ask, { timeout: 60_000, interval: 1_000 }).toContain('of-work');
    expect(bridge.process.exitCode).toBeNull();

    expect((await operate('accounts', 'delete', 'carl', '--yes')).stderr).toContain('1 bridges');
    expect(await bridge.finished).toMatchObject({ code: 1 });
    await carl.run(['chat', 'hello'], folder);
    expect(JSON.parse(carl.logins())).toEqual({ logins: [] });
  });
});
