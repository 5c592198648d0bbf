import { existsSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { COMPANION_LIMITS } from '../../companion/limits.ts';
import { connect, openSession, startCompanion } from './companions.ts';

const FILE = '/work/a.ts';

it('a CLI lists the two tools, and is known by the key that it has read', async () => {
  const { companion, guests } = await startCompanion();
  const about = { name: 'streamable-http-client', version: '0.61.0' };
  const { client } = await connect(companion, { client: about });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['openDiff', 'closeDiff']);
  expect(client.getServerVersion()).toMatchObject({ title: 'Vim' });
  await connect(companion, { family: 'qwen', client: { ...about, version: '1.0.0' } });
  await connect(companion, { client: { name: 'mine\n\u001b[31m', version: '2' } });
  await connect(companion, { client: { name: '\u001b[31m', version: '' } });
  expect(guests).toEqual(
    ['Gemini CLI 0.61.0', 'Qwen Code', 'mine 2', 'Gemini CLI'].map((name) => `${name} came`),
  );
});

it.each(['the person changed this', ''])(
  'an accepted diff is reported with what was accepted: %j',
  async (content) => {
    const { companion, shown } = await startCompanion();
    const { call, heard } = await connect(companion);
    const args = { filePath: '/work/./b//ä .ts', newContent: 'proposed' };
    expect(await call('openDiff', args)).toEqual({ content: [] });
    expect(shown).toMatchObject([{ ...args, guest: { family: 'gemini', program: 'test 1' } }]);
    shown[0]?.answer({ decision: 'accepted', content });
    const accepted = { method: 'ide/diffAccepted', params: { filePath: args.filePath, content } };
    await vi.waitFor(() => expect(heard).toEqual([accepted]));
  },
);

it('a rejected diff is reported, and so is one whose view has failed', async () => {
  const { companion, shown } = await startCompanion();
  const { call, heard } = await connect(companion);
  await call('openDiff', { filePath: FILE, newContent: '' });
  shown[0]?.answer({ decision: 'rejected' });
  const rejected = { method: 'ide/diffRejected', params: { filePath: FILE } };
  await vi.waitFor(() => expect(heard).toEqual([rejected]));

  const broken = await startCompanion({ onDiff: () => Promise.reject(new Error('no window')) });
  const cli = await connect(broken.companion);
  await cli.call('openDiff', { filePath: FILE, newContent: '' });
  await vi.waitFor(() => expect(cli.heard).toEqual([rejected]));
});

it('the answer goes to the session that has asked, also where two have the same path', async () => {
  const { companion, shown } = await startCompanion();
  const [one, two] = [await connect(companion), await connect(companion, { family: 'qwen' })];
  await one.call('openDiff', { filePath: FILE, newContent: '1' });
  await two.call('openDiff', { filePath: FILE, newContent: '2' });
  shown[1]?.answer({ decision: 'accepted', content: 'two' });
  await vi.waitFor(() => expect(two.heard).toHaveLength(1));
  shown[0]?.answer({ decision: 'accepted', content: 'one' });
  await vi.waitFor(() => expect(one.heard).toHaveLength(1));
  expect([one.heard, two.heard]).toMatchObject([
    [{ params: { content: 'one' } }],
    [{ params: { content: 'two' } }],
  ]);
});

it.each([
  [
    'as the person has changed it',
    { decision: 'accepted', content: 'changed' } as const,
    'changed',
  ],
  ['as proposed, where the view says nothing of it', { decision: 'rejected' } as const, 'proposed'],
  ['as proposed, where the view does not answer', undefined, 'proposed'],
])('closeDiff returns the content %s, and sends nothing else', async (_, left, content) => {
  const { companion, shown } = await startCompanion();
  const { call, heard } = await connect(companion);
  await call('openDiff', { filePath: FILE, newContent: 'proposed' });
  const [view] = shown;
  view?.signal.addEventListener('abort', () => left && view.answer(left));
  const close = () => call('closeDiff', { filePath: FILE, suppressNotification: true });
  expect(await close()).toEqual({ content: [{ type: 'text', text: JSON.stringify({ content }) }] });
  expect(view?.signal.aborted).toBe(true);
  view?.answer({ decision: 'accepted', content: 'late' });
  expect(await close()).toEqual({ content: [{ type: 'text', text: '{}' }] });
  expect(heard).toEqual([]);
});

it('a second diff of a path takes the place of the first, which is not answered', async () => {
  const { companion, shown } = await startCompanion();
  const { call, heard } = await connect(companion);
  await call('openDiff', { filePath: FILE, newContent: '1' });
  await call('openDiff', { filePath: FILE, newContent: '2' });
  expect(shown.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  shown[0]?.answer({ decision: 'rejected' });
  shown[1]?.answer({ decision: 'accepted', content: '2' });
  await vi.waitFor(() => expect(heard).toMatchObject([{ method: 'ide/diffAccepted' }]));
});

it('a diff that cannot be shown is an error of the call', async () => {
  const { companion, shown } = await startCompanion();
  const { call } = await connect(companion);
  for (const args of [{}, { filePath: FILE }, { filePath: '', newContent: '' }]) {
    expect(await call('openDiff', args)).toMatchObject({ isError: true });
  }
  for (let number = 0; number < COMPANION_LIMITS.maxDiffs; number++) {
    await call('openDiff', { filePath: `/${number}`, newContent: '' });
  }
  expect(await call('openDiff', { filePath: FILE, newContent: '' })).toEqual({
    content: [{ type: 'text', text: '16 diffs are open already: close one first.' }],
    isError: true,
  });
  expect(shown).toHaveLength(COMPANION_LIMITS.maxDiffs);
});

it('the content of open diffs is bounded, and a closed diff makes room', async () => {
  const { companion, shown } = await startCompanion();
  const { call } = await connect(companion);
  const newContent = 'x'.repeat(COMPANION_LIMITS.maxDiffChars / 2);
  for (const filePath of ['/1', '/2']) {
    expect(await call('openDiff', { filePath, newContent })).toEqual({ content: [] });
  }
  const refused = await call('openDiff', { filePath: FILE, newContent: 'y' });
  expect(refused).toMatchObject({ isError: true });
  await call('closeDiff', { filePath: '/1' });
  expect(await call('openDiff', { filePath: FILE, newContent: 'y' })).toEqual({ content: [] });
  expect(shown.map(({ filePath }) => filePath)).toEqual(['/1', '/2', FILE]);
});

it('a CLI that vanishes takes its diffs with it, and no other', async () => {
  const { companion, shown, guests } = await startCompanion({ streamlessMs: 100 });
  const [one, two] = [await connect(companion), await connect(companion)];
  companion.contextChanged({ openFiles: [] });
  await vi.waitFor(() => expect([one.heard.length, two.heard.length]).toEqual([1, 1]));
  await one.call('openDiff', { filePath: FILE, newContent: '' });
  await two.call('openDiff', { filePath: FILE, newContent: '' });
  await one.client.close();
  await vi.waitFor(() => expect(guests.at(-1)).toBe('test 1 left'));
  expect(shown.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  await expect(two.client.ping()).resolves.toEqual({});
});

it('DELETE ends a session and its diffs: 204, then 404', async () => {
  const { companion, shown, guests } = await startCompanion();
  const session = await openSession(companion);
  await session.call('openDiff', { filePath: FILE, newContent: '' });
  expect(await session.end()).toMatchObject({ status: 204, body: '' });
  expect(shown[0]?.signal.aborted).toBe(true);
  expect(guests).toEqual(['raw 1 came', 'raw 1 left']);
  expect(await session.end()).toMatchObject({ status: 404 });
});

it('an answer that comes while a CLI has no stream opens its next stream, behind the context', async () => {
  const { companion, shown } = await startCompanion();
  companion.contextChanged({ openFiles: [], isTrusted: true });
  const session = await openSession(companion);
  await session.call('openDiff', { filePath: FILE, newContent: '' });
  shown[0]?.answer({ decision: 'rejected' });
  const stream = await session.openStream();
  let heard = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  await vi.waitFor(() => expect(heard).toContain('diffRejected'));
  expect(heard.match(/"method":"[^"]+"/g)).toEqual([
    '"method":"ide/contextUpdate"',
    '"method":"ide/diffRejected"',
  ]);
  expect(heard).toContain('"params":{"workspaceState":{"openFiles":[],"isTrusted":true}}');
});

it('a new stream takes the place of the old one', async () => {
  const { companion } = await startCompanion({ streamlessMs: 100 });
  const session = await openSession(companion);
  const old = await session.openStream();
  const hasEnded = new Promise((resolve) => old.on('end', resolve).resume());
  const stream = await session.openStream();
  expect(stream.statusCode).toBe(200);
  await hasEnded;
  companion.contextChanged({ openFiles: [] });
  const [first] = await stream.setEncoding('utf8').take(1).toArray();
  expect(first).toContain('ide/contextUpdate');
});

it('a stream that is silent gets a ping every 30 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { companion } = await startCompanion();
  const { heard } = await connect(companion);
  companion.contextChanged({ openFiles: [] });
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  vi.advanceTimersByTime(2 * 30_000);
  await vi.waitFor(() =>
    expect(heard.slice(1)).toMatchObject([{ method: 'ping' }, { method: 'ping' }]),
  );
});

it('changes of the context are sent together, to all', async () => {
  const { companion } = await startCompanion();
  const clis = [await connect(companion), await connect(companion, { family: 'qwen' })];
  companion.contextChanged({ openFiles: [] });
  await vi.waitFor(() => expect(clis.map(({ heard }) => heard.length)).toEqual([1, 1]));
  for (let line = 1; line <= 20; line++) {
    const cursor = { line, character: 1 };
    companion.contextChanged({ openFiles: [{ path: FILE, timestamp: 1, isActive: true, cursor }] });
  }
  await vi.waitFor(() => expect(clis.map(({ heard }) => heard.length)).toEqual([2, 2]));
  expect(clis[1]?.heard[1]?.params).toEqual({
    workspaceState: {
      openFiles: [{ path: FILE, timestamp: 1, isActive: true, cursor: { line: 20, character: 1 } }],
    },
  });
});

it('answers in the version of the protocol that a CLI asks for', async () => {
  const { companion } = await startCompanion();
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
    const { begun } = await openSession(companion, version);
    expect(JSON.parse(begun.body).result.protocolVersion).toBe(version);
  }
});

it('ends its oldest session without a stream where there are too many, and refuses where all have one', async () => {
  const { companion, guests } = await startCompanion();
  const oldest = await openSession(companion);
  for (let count = 0; count < COMPANION_LIMITS.maxSessions; count++) {
    await (await openSession(companion)).openStream();
  }
  expect(guests.filter((line) => line.endsWith('left'))).toHaveLength(1);
  expect(await oldest.end()).toMatchObject({ status: 404 });
  expect((await openSession(companion)).begun).toMatchObject({ status: 503 });
});

it('ends at once with a CLI connected: first the files, then the diffs, then the port', async () => {
  const { companion, shown, guests } = await startCompanion();
  const { call, heard, transport } = await connect(companion);
  await call('openDiff', { filePath: FILE, newContent: '' });
  const paths = Object.keys(companion.discoveryFiles);
  const left: string[] = [];
  shown[0]?.signal.addEventListener('abort', () => left.push(...paths.filter(existsSync)));
  expect(paths.every(existsSync)).toBe(true);
  const { port } = companion;
  await companion.close();
  expect(shown[0]?.signal.aborted).toBe(true);
  expect(left).toEqual([]);
  expect(heard).toEqual([]);
  expect(guests.at(-1)).toBe('test 1 left');
  await expect(fetch(`http://127.0.0.1:${port}/mcp`)).rejects.toThrow();
  await companion.close();
  await transport.close();
});
