import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ControlAnswer } from '../../../local/server/control.ts';
import { askServer, holdServer } from '../../../local/server/control-client.ts';
import { type Controller, openControl } from '../../../local/server/control-server.ts';
import { LocalError } from '../../../machine/local-error.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const GONE: ControlAnswer = { answer: 'disconnected', wasConnected: true };
const ASK = { ask: 'disconnect', workspaceDir: '/w' } as const;

async function open(controller: Controller = async () => GONE, dir = temporaryFolder()) {
  const control = await openControl(dir, controller);
  onTestFinished(() => control[Symbol.dispose]());
  return control;
}

test('a request is answered, and its side leaves when the socket closes', async () => {
  const left: string[] = [];
  const { path } = await open(async (request, closed) => {
    closed.addEventListener('abort', () => left.push(request.ask));
    return GONE;
  });
  expect(await askServer(path, ASK, 'disconnected')).toEqual(GONE);
  await expect.poll(() => left).toEqual(['disconnect']);
  const held = await holdServer(path, ASK, 'disconnected');
  expect(left).toHaveLength(1);
  held.leave();
  await expect.poll(() => left).toHaveLength(2);
});

test('a held socket ends with the server', async () => {
  const control = await open();
  const held = await holdServer(control.path, ASK, 'disconnected');
  control[Symbol.dispose]();
  await held.ended;
});

test('a refused side leaves', async () => {
  let left: AbortSignal | undefined;
  const { path } = await open(async (_, closed) => {
    left = closed;
    return { answer: 'error', kind: 'refused', message: 'No.' };
  });
  await expect(holdServer(path, ASK, 'disconnected')).rejects.toThrow('No.');
  await expect.poll(() => left?.aborted).toBe(true);
});

test('a refusal keeps its kind and its words', async () => {
  const { path } = await open(async () => ({ answer: 'error', kind: 'refused', message: 'No.' }));
  const error = await askServer(path, ASK, 'disconnected').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LocalError);
  expect(error).toMatchObject({ kind: 'refused', message: 'No.' });
});

test.each(['nonsense\n', '{"answer":"from another version"}\n'])(
  'an answer that this version does not know is refused: %j',
  async (text) => {
    const path = join(temporaryFolder(), 'strange.sock');
    const server = createServer((socket) => socket.end(text)).listen(path);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    await expect(askServer(path, ASK, 'disconnected')).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/does not know: end it with `drawbridge stop`/),
    });
  },
);

test.each(['nonsense\n', '{"ask":"explode"}\n', `${'x'.repeat(2_000_000)}`])(
  'a request that is none is refused, and the server goes on',
  async (text) => {
    const { path } = await open();
    const socket = connect(path);
    socket.on('error', () => {});
    socket.end(text);
    let answer = '';
    for await (const piece of socket) answer += String(piece);
    expect(answer).toContain('"kind":"refused"');
    expect(await askServer(path, ASK, 'disconnected')).toEqual(GONE);
  },
);

test('a socket without a listener is reported with what to do', async () => {
  const path = join(temporaryFolder(), 'control.sock');
  await expect(askServer(path, ASK, 'disconnected')).rejects.toThrow('`drawbridge stop`');
});

test('a path that is too long for a socket is replaced by a private folder', async () => {
  const dir = join(temporaryFolder(), 'x'.repeat(120));
  mkdirSync(dir);
  const { path } = await open(async () => GONE, dir);
  expect(path.length).toBeLessThan(104);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(await askServer(path, ASK, 'disconnected')).toEqual(GONE);
});
