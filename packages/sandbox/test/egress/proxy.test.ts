import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { addressesOf } from '../../egress/reach.ts';
import { basic, echoServer, only, proxied } from './proxied.ts';

it('a tunnel leads to the host that was judged, at the address that was checked', async () => {
  const { port, seen } = await echoServer();
  const { send, credentials, judged, lookedUp } = await proxied();
  const answer = await send(
    `CONNECT Example.com:${port} HTTP/1.1\r\nHost: other.test\r\n${credentials}\r\nhello there`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 Connection established\r\n\r\nHTTP\/1.1 200 OK/);
  expect([seen, judged, lookedUp]).toEqual([
    ['hello there'],
    [`example.com:${port}`],
    ['example.com'],
  ]);
});

it('a plain request goes to the host of its address, with a Host of its own', async () => {
  const { port, seen } = await echoServer();
  const { send, credentials, judged } = await proxied();
  const answer = await send(
    `GET http://example.com:${port}/a?b HTTP/1.1\r\nHost: internal.test\r\nConnection: X-Drop\r\nX-Drop: 1\r\n` +
      `X-Keep: 1\r\n${credentials}\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 OK[\s\S]*hello$/);
  const [request = ''] = seen;
  expect(request).toMatch(/^GET \/a\?b HTTP\/1.1\r\n/);
  expect(request).toContain(`host: example.com:${port}\r\n`);
  expect(request).toContain('x-keep: 1');
  expect(request).not.toMatch(/internal|x-drop|proxy-auth/i);
  expect(judged).toEqual([`example.com:${port}`]);
});

it('a second request on the same connection is not served', async () => {
  const { port, seen } = await echoServer();
  const { send, credentials, judged } = await proxied();
  const request = (host: string) =>
    `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}\r\n${credentials}\r\n`;
  await send(request('good.test') + request('evil.test'));
  expect([seen.length, judged]).toEqual([1, [`good.test:${port}`]]);
});

it('a CONNECT behind another request on the same connection is not served', async () => {
  const { port } = await echoServer();
  const { send, credentials, judged } = await proxied();
  const first = `GET http://good.test:${port}/ HTTP/1.1\r\nHost: good.test\r\n${credentials}\r\n`;
  const answer = await send(`${first}CONNECT evil.test:${port} HTTP/1.1\r\n${credentials}\r\n`);
  expect([judged, answer.includes('established')]).toEqual([[`good.test:${port}`], false]);
});

it('names are looked up a few at a time, each once, and for no client or command that has gone', async () => {
  const waiting = new Map<string, (found: { address: string; family: number }[]) => void>();
  const lookup = (host: string) =>
    new Promise<{ address: string; family: number }[]>((resolve) => waiting.set(host, resolve));
  const { door, pass, proxy, lookedUp, judged } = await proxied({ resolver: { lookup } });
  const ask = (host: string, { token } = pass) => {
    const socket = connect(door.port, '127.0.0.1').on('error', () => {});
    socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nProxy-Authorization: ${basic(token)}\r\n\r\n`);
    return socket;
  };
  const answered = async (host: string) => {
    await expect.poll(() => waiting.has(host)).toBe(true);
    waiting.get(host)?.([]);
  };
  const others = ['b', 'c'].map(() => proxy.admit({ conversationId: 'conv_test', hosts: [] }));
  for (let time = 0; time < 20; time++) ask('a0.test');
  await expect.poll(() => judged.length).toBe(20);
  const sockets = [];
  for (let at = 1; at < 6; at++) {
    sockets.push(ask(`a${at}.test`));
    await expect.poll(() => judged.length).toBe(20 + at);
  }
  for (const [at, other] of others.entries()) {
    for (const host of [`b${at}.test`, `c${at}.test`]) ask(host, other);
    await expect.poll(() => judged.length).toBe(27 + 2 * at);
  }
  expect(lookedUp.toSorted()).toEqual(['a0.test', 'a1.test', 'b0.test', 'c0.test']);
  const [, gone] = sockets;
  gone?.destroy();
  others[1]?.[Symbol.dispose]();
  const connections = () => promisify(door.listener.getConnections).call(door.listener);
  await expect.poll(connections).toBe(20 + 4 + 2);
  await answered('b0.test');
  await answered('c0.test');
  await answered('a0.test');
  await answered('a3.test');
  await answered('a4.test');
  await answered('a1.test');
  await answered('a5.test');
  expect(lookedUp.toSorted()).toEqual(
    ['a0', 'a1', 'a3', 'a4', 'a5', 'b0', 'c0'].map((name) => `${name}.test`),
  );
});

it('without the token of a running command nothing is judged, and with it nothing after its end', async () => {
  const { port } = await echoServer();
  const { send, judged, proxy, pass, credentials } = await proxied();
  const target = `CONNECT example.com:${port} HTTP/1.1\r\n`;
  for (const header of [
    '',
    'Proxy-Authorization: Basic !!\r\n',
    `Proxy-Authorization: ${basic('wrong')}\r\n`,
    `Proxy-Authorization: Bearer ${pass.token}\r\n`,
    `Authorization: ${basic(pass.token)}\r\n`,
  ]) {
    expect(await send(`${target}${header}\r\n`)).toMatch(/^HTTP\/1.1 407 .*\r\n/);
  }
  const other = await proxied();
  expect(await other.send(`${target}${credentials}\r\n`)).toMatch(/^HTTP\/1.1 407/);
  expect(judged).toEqual([]);
  const later = proxy.admit({ conversationId: 'conv_test', hosts: [] });
  pass[Symbol.dispose]();
  expect(await send(`${target}${credentials}\r\n`)).toMatch(/^HTTP\/1.1 407/);
  expect(await send(`${target}Proxy-Authorization: ${basic(later.token)}\r\n\r\nx`)).toMatch(
    /^HTTP\/1.1 200/,
  );
});

it('a refused host gets a sentence on what to do, and is noted for the result', async () => {
  const { send, credentials, pass, lookedUp } = await proxied({ judge: only('good.test') });
  for (let time = 0; time < 2; time++) {
    const answer = await send(`CONNECT evil.test:443 HTTP/1.1\r\n${credentials}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 403 Forbidden\r\n[\s\S]*\r\n\r\nAsk with hosts.\n$/);
  }
  const plain = `GET http://evil.test/ HTTP/1.1\r\nHost: good.test\r\n${credentials}\r\n`;
  expect(await send(plain)).toMatch(/^HTTP\/1.1 403/);
  for (let at = 0; at < 20; at++)
    await send(`CONNECT evil${at}.test:8443 HTTP/1.1\r\n${credentials}\r\n`);
  const evil = pass.refused.get('evil.test');
  expect([pass.refused.size, evil, lookedUp]).toEqual([
    10,
    { times: 3, reason: 'Ask with hosts.' },
    [],
  ]);
});

it('a name that leads to an address that is not public is not connected to, nor looked up twice', async () => {
  const { port, seen } = await echoServer();
  const found = [
    { address: '93.184.216.34', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  const resolver = {
    lookup: async () => found,
    isPublic: (address: string) => !address.startsWith('127.'),
  };
  const { send, credentials, lookedUp } = await proxied({ resolver });
  const answer = await send(`CONNECT rebind.test:${port} HTTP/1.1\r\n${credentials}\r\nx`);
  expect(answer).toMatch(/^HTTP\/1.1 403 [\s\S]*private network/);
  expect([seen, lookedUp]).toEqual([[], ['rebind.test']]);
});

it.each([
  ['127.0.0.1', 'internal.test', false],
  ['0.0.0.0', 'internal.test', false],
  ['169.254.169.254', 'internal.test', false],
  ['::1', 'internal.test', false],
  ['::ffff:127.0.0.1', 'internal.test', false],
  ['::ffff:a9fe:a9fe', 'internal.test', false],
  ['64:ff9b::127.0.0.1', 'internal.test', false],
  ['fe80::1', 'internal.test', false],
  ['fe80::1%1', 'internal.test', false],
  ['127.0.0.1', 'x.localhost', false],
  ['10.0.0.1', 'internal.test', true],
  ['fd00::1', 'internal.test', true],
  ['64:ff9b::93.184.216.34', 'internal.test', true],
  ['127.0.0.1', 'localhost', true],
  ['127.0.0.1', '127.0.0.1', true],
])(
  '%s behind the name %j, which may lead to any address, is reached: %s',
  async (address, host, isReached) => {
    const lookup = async () => [{ address, family: address.includes(':') ? 6 : 4 }];
    const found = await addressesOf({ host, port: 443 }, 'any', { lookup, isPublic: () => false });
    expect(found?.length).toBe(isReached ? 1 : undefined);
  },
);

it('a name whose address changes between two answers is connected to as it was checked', async () => {
  const { port, seen } = await echoServer();
  const answers = ['127.0.0.1', '10.0.0.1'];
  const resolver = {
    lookup: async () => [{ address: answers.shift() ?? '10.0.0.1', family: 4 }],
    isPublic: (address: string) => address !== '10.0.0.1',
  };
  const { send, credentials } = await proxied({ resolver });
  expect(await send(`CONNECT rebind.test:${port} HTTP/1.1\r\n${credentials}\r\nx`)).toMatch(
    / 200 /,
  );
  expect([seen.length, answers]).toEqual([1, ['10.0.0.1']]);
  expect(await send(`CONNECT rebind.test:${port} HTTP/1.1\r\n${credentials}\r\nx`)).toMatch(
    / 403 /,
  );
});

it.each([
  'CONNECT example.com HTTP/1.1',
  'CONNECT example.com: HTTP/1.1',
  'CONNECT example.com:0 HTTP/1.1',
  'CONNECT example.com:65536 HTTP/1.1',
  'CONNECT example.com.:443 HTTP/1.1',
  'CONNECT .example.com:443 HTTP/1.1',
  'CONNECT exa..mple.com:443 HTTP/1.1',
  'CONNECT user@example.com:443 HTTP/1.1',
  'CONNECT exämple.com:443 HTTP/1.1',
  'CONNECT example.com%00.test:443 HTTP/1.1',
  'CONNECT example.com\0.test:443 HTTP/1.1',
  'CONNECT exam\tple.com:443 HTTP/1.1',
  'CONNECT http://example.com:443/ HTTP/1.1',
  'CONNECT [::1:443 HTTP/1.1',
  'CONNECT ::1:443 HTTP/1.1',
  'CONNECT [ad.de.]:443 HTTP/1.1',
  'CONNECT [ad.de]:443 HTTP/1.1',
  'CONNECT [127.0.0.1]:443 HTTP/1.1',
  'CONNECT [1:2]:443 HTTP/1.1',
  'CONNECT [ad.de:]:443 HTTP/1.1',
  'CONNECT [::1.]:443 HTTP/1.1',
  'GET http://[ad.de.]/ HTTP/1.1',
  'GET / HTTP/1.1',
  'GET //example.com/ HTTP/1.1',
  'GET https://example.com/ HTTP/1.1',
  'GET ftp://example.com/ HTTP/1.1',
  'GET http:/example.com/ HTTP/1.1',
  'GET http:///a HTTP/1.1',
  'GET http://user:pass@example.com/ HTTP/1.1',
  'GET http://example.com\\@evil.test/ HTTP/1.1',
  'GET http://example.com:80:81/ HTTP/1.1',
  'GET http://exämple.com/ HTTP/1.1',
  'GET http://example.com./ HTTP/1.1',
  'GET http://example.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5',
  'GET http://example.com/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6',
  'GET http://example.com/ HTTP/1.1\r\nConnection: content-length',
  'GET http://example.com/ HTTP/1.1\r\nConnection: close\r\nConnection: x,Transfer-Encoding ',
  'GET http://example.com/ HTTP/1.1\r\nConnection: close, HOST',
  'GET http://example.com/ HTTP/1.1\r\nX-A : b',
  'GET http://example.com/ HTTP/1.1\r\nX: a\0b',
  'nonsense',
])('%j is no request of this proxy', async (line) => {
  const { send, credentials, judged } = await proxied();
  expect(await send(`${line}\r\nHost: example.com\r\n${credentials}\r\n`)).toMatch(
    /^HTTP\/1.1 400 /,
  );
  expect(judged).toEqual([]);
});

it('addresses are judged as they are written, and never looked up as names', async () => {
  const { send, credentials, judged, lookedUp } = await proxied({
    resolver: { isPublic: () => false },
  });
  for (const host of ['127.0.0.1', '[::1]', '2130706433', '0x7f.1', '127.1', 'a.0x10'])
    expect(await send(`CONNECT ${host}:443 HTTP/1.1\r\n${credentials}\r\n`)).toMatch(/ 403 /);
  expect([judged[1], judged.length, lookedUp]).toEqual(['::1:443', 6, []]);
});

it('an upgrade is a plain request, and heads have a limit', async () => {
  const { port, seen } = await echoServer();
  const { send, credentials } = await proxied();
  await send(
    `GET http://a.test:${port}/ HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n${credentials}\r\n`,
  );
  expect(seen[0]).not.toMatch(/upgrade/i);
  const long = 'x'.repeat(20_000);
  expect(await send(`GET http://a.test/ HTTP/1.1\r\nX-Long: ${long}\r\n\r\n`)).toMatch(/ 400 /);
});

it('a host that gives no answer is reported as that', async () => {
  const { send, credentials } = await proxied();
  const { port } = await echoServer();
  expect(await send(`CONNECT a.test:1 HTTP/1.1\r\n${credentials}\r\n`)).toMatch(/ 502 /);
  const gone = await proxied({
    resolver: { lookup: () => Promise.reject(new Error('ENOTFOUND')) },
  });
  const target = `CONNECT a.test:${port} HTTP/1.1\r\n`;
  expect(await gone.send(`${target}${gone.credentials}\r\n`)).toMatch(/ 502 /);
});

it('the connections of a command end with it, and all with the door', async () => {
  const { port } = await echoServer();
  const { door, pass, credentials } = await proxied();
  const tunnel = connect(door.port, '127.0.0.1');
  tunnel.write(`CONNECT a.test:${port} HTTP/1.1\r\n${credentials}\r\n`);
  await once(tunnel, 'data');
  const closed = once(tunnel, 'close');
  pass[Symbol.dispose]();
  await closed;
  const idle = connect(door.port, '127.0.0.1');
  await once(idle, 'connect');
  const ended = once(idle, 'close');
  idle.on('error', () => {});
  door[Symbol.dispose]();
  await ended;
});
