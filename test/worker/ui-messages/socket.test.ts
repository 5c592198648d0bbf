import { SELF } from 'cloudflare:test';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { NewKey } from '../../../shared/api/keys.ts';
import { forgetKeys } from '../../../worker/apps/known.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { UI_LIMITS } from '../../../worker/ui-messages/limits.ts';
import { call, scriptModel, tokenFor } from '../api.ts';
import { holdModel, textFrame } from '../conversation/held-model.ts';
import { quicken } from '../follow/watching.ts';
import { userMessage } from './chatting.ts';

const API = 'https://drawbridge.test/api/v1';

/** A socket that collects what it gets. */
async function openSocket(origin?: string) {
  const headers = { upgrade: 'websocket', ...(origin !== undefined && { origin }) };
  const { webSocket: socket } = await SELF.fetch(`${API}/ui/socket`, { headers });
  if (!socket) throw new Error('there is no socket');
  const frames: Record<string, unknown>[] = [];
  const closed: number[] = [];
  socket.addEventListener('message', ({ data }) => void frames.push(JSON.parse(String(data))));
  socket.addEventListener('close', ({ code }) => void closed.push(code));
  socket.accept();
  onTestFinished(() => socket.close());
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  return { send, frames, closed };
}

function sending(token: string, requestId = 'a') {
  const messages = [userMessage('go')];
  const headers = { authorization: `Bearer ${token}` };
  const chat = { id: crypto.randomUUID(), messages, trigger: 'submit-message' };
  return { type: 'send', requestId, ...chat, headers, body: {}, metadata: undefined };
}

async function until(condition: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(condition()).toBe(true));
}

it('what a token may not do over HTTP, it may not do over the socket', async () => {
  forgetKeys();
  scriptModel(() => ({ text: 'Hi.' }));
  const operator = `Bearer ${await tokenFor({ claims: { scope: 'operator' } })}`;
  const post = (path: string, authorization: string, body: object) =>
    SELF.fetch(`${API}/${path}`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify(body),
    });
  const terms = { id: `shop-${crypto.randomUUID().slice(0, 8)}`, origins: ['https://shop.test'] };
  const key = await (await post('keys', operator, terms)).json<NewKey>();
  const tokenWith = async (more: object = {}) => {
    const made = await post('tokens', `Bearer ${key.secret}`, { user: 'ana', ...more });
    return (await made.json<{ token: string }>()).token;
  };
  const own = await openSocket('https://shop.test');
  own.send(sending(await tokenWith()));
  await until(() => own.frames.some(({ type }) => type === 'end'));
  own.send(sending(await tokenWith({ can: ['read'] }), 'b'));
  await until(() => own.frames.some(({ type }) => type === 'error'));
  expect(own.frames.at(-1)).toMatchObject({
    type: 'error',
    requestId: 'b',
    errorText: expect.stringContaining('FORBIDDEN: '),
  });
  const strange = await openSocket('https://other.test');
  strange.send(sending(await tokenWith()));
  await until(() => strange.frames.length > 0);
  expect(strange.frames).toEqual([
    { type: 'error', requestId: 'a', errorText: expect.stringContaining('origin') },
  ]);
});

it('a refusal has the words of the HTTP answer, and leaves the socket open', async () => {
  const { send, frames, closed } = await openSocket();
  send({ ...sending(await tokenFor()), messages: [] });
  await until(() => frames.length > 0);
  expect(frames).toEqual([
    {
      type: 'error',
      requestId: 'a',
      errorText: expect.stringMatching(/^INVALID_REQUEST: messages/),
    },
  ]);
  expect(closed).toEqual([]);
});

it('a token that no header can hold is refused', async () => {
  const { send, frames } = await openSocket();
  send(sending('a\nb'));
  send({ type: 'abort', requestId: 'a' });
  await until(() => frames.length > 0);
  expect(frames).toEqual([{ type: 'error', requestId: 'a', errorText: expect.any(String) }]);
});

it('an abort that comes with its request ends the run', async () => {
  holdModel();
  const { send, frames } = await openSocket();
  send(sending(await tokenFor()));
  send({ type: 'abort', requestId: 'a' });
  send({ type: 'abort', requestId: 'unknown' });
  await until(() => frames.some(({ type }) => type === 'end'));
  const started = frames.find(({ chunk }) => Object(chunk).type === 'start');
  const id = Object(started?.['chunk']).messageId;
  expect(await (await call(`chat/completions/${id}`)).json()).toMatchObject({
    status: 'cancelled',
  });
});

it('a request id that is in use is not answered twice', async () => {
  const model = holdModel();
  const { send, frames } = await openSocket();
  const frame = sending(await tokenFor());
  send(frame);
  const reply = await model.next();
  send(frame);
  reply.send(textFrame('Once '));
  reply.answer({ text: 'only.' });
  await until(() => frames.some(({ type }) => type === 'end'));
  const chunks = frames.filter(({ type }) => type === 'chunk');
  expect(chunks.map(({ sequence }) => sequence)).toEqual([...chunks.keys()]);
  expect(frames.filter(({ type }) => type === 'start')).toHaveLength(1);
});

it('a socket on which nothing is asked is closed', async () => {
  quicken({ [UI_LIMITS.firstFrameMs]: 5 });
  const { closed } = await openSocket();
  await until(() => closed.length > 0);
  expect(closed).toEqual([1008]);
});

it('a request without an upgrade is refused', async () => {
  expect((await SELF.fetch(`${API}/ui/socket`)).status).toBe(400);
});

it('shows that the connection is alive while the model says nothing', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
  const model = holdModel();
  const { send, frames } = await openSocket();
  send(sending(await tokenFor()));
  const reply = await model.next();
  await until(() => frames.filter(({ type }) => type === 'start').length > 2);
  reply.answer({ text: 'Hi.' });
  await until(() => frames.some(({ type }) => type === 'end'));
});
