import { SELF } from 'cloudflare:test';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { NewKey } from '../../../shared/api/keys.ts';
import { call, scriptModel, tokenFor } from '../../../test/worker/api.ts';
import { holdModel, textFrame } from '../../../test/worker/conversation/held-model.ts';
import { quicken } from '../../../test/worker/follow/watching.ts';
import { RATE_LIMITS } from '../../../worker/account/limits.ts';
import { forgetKeys } from '../../../worker/apps/known.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { UI_LIMITS } from '../../ui-messages/limits.ts';
import { userMessage } from './chatting.ts';

const API = 'https://drawbridge.test/api/v1';

/** A socket that collects what it gets. */
async function openSocket(origin?: string, clientIp?: string) {
  const headers = { upgrade: 'websocket', ...(origin !== undefined && { origin }) };
  const cf = clientIp === undefined ? {} : fromAddress(clientIp);
  const { webSocket: socket } = await SELF.fetch(`${API}/ui/socket`, { headers, ...cf });
  if (!socket) throw new Error('there is no socket');
  const frames: Record<string, unknown>[] = [];
  const closed: number[] = [];
  socket.addEventListener('message', ({ data }) => void frames.push(JSON.parse(String(data))));
  socket.addEventListener('close', ({ code }) => void closed.push(code));
  socket.accept();
  onTestFinished(() => socket.close());
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  return { socket, send, frames, closed };
}

/** As workerd itself says it on a server of one's own. */
function fromAddress(clientIp: string) {
  return { cf: { clientIp } as unknown as CfProperties };
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

it('tools of the page are refused, and the socket stays', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const own = await openSocket();
  const token = await tokenFor();
  own.send({ ...sending(token), body: { tools: { show_map: {} } } });
  await until(() => own.frames.some(({ type }) => type === 'error'));
  expect(own.frames.at(-1)).toMatchObject({ errorText: expect.stringContaining('over HTTP') });
  own.send({ ...sending(token, 'b'), body: { tools: {} } });
  await until(() => own.frames.some(({ type }) => type === 'end'));
});

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

/** Large enough that no stranger's is parsed. */
const LONG = 'x'.repeat(UI_LIMITS.maxStrangerChars);

it.each<[what: string, frame: string | object, isAnswered: boolean]>([
  ['an abort', { type: 'abort', requestId: 'a' }, false],
  ['no JSON', 'hello', false],
  ['no frame', { type: 'sing' }, false],
  ['no token', { ...sending(''), headers: {} }, true],
  ['an empty token', { ...sending(''), headers: { authorization: '' } }, true],
  ['a wrong token', sending('wrong'), true],
  ['a resume with a wrong token', { ...sending('wrong'), type: 'resume' }, true],
  ['a large frame without a token', { ...sending(''), headers: {}, body: { LONG } }, false],
  ['a large frame with a wrong token', { ...sending('wrong'), body: { LONG } }, false],
  ['a large text', LONG + LONG, false],
])('a stranger’s first frame ends the connection: %s', async (_, frame, isAnswered) => {
  const { socket, frames, closed } = await openSocket();
  socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  socket.send(JSON.stringify(sending(await tokenFor(), 'b')));
  await until(() => closed.length > 0);
  expect(closed).toEqual([1008]);
  const refusal = { type: 'error', requestId: 'a' };
  const errorText = expect.stringMatching(/^UNAUTHENTICATED: /);
  expect(frames).toEqual(isAnswered ? [{ ...refusal, errorText }] : []);
});

it('many frames at once from a stranger end the connection', async () => {
  const { send, closed } = await openSocket();
  for (let number = 0; number < 100; number++) send(sending('wrong', `${number}`));
  await until(() => closed.length > 0);
});

it('a first frame may be large, and its chat may have what looks like a token', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const { send, frames } = await openSocket();
  const decoy = { authorization: 'Bearer x' };
  const { requestId, headers, ...frame } = sending(await tokenFor());
  send({ requestId, decoy, ...frame, body: { LONG }, headers });
  await until(() => frames.some(({ type }) => type === 'end' || type === 'error'));
  expect(frames.at(-1)).toMatchObject({ type: 'end' });
});

it('after a valid token a refusal leaves the socket open, and too many are counted', async () => {
  const { send, frames, closed } = await openSocket(undefined, '203.0.113.50:1');
  send({ ...sending(await tokenFor()), messages: [] });
  await until(() => frames.length > 0);
  const flood = RATE_LIMITS.refusedPerMinute * 1.5; // The bucket refills meanwhile.
  for (let number = 0; number < flood; number++) send(sending('x', `r${number}`));
  await until(() => frames.length > flood);
  const words = frames.map(({ errorText }) => String(errorText).split(':')[0]);
  expect(words.at(1)).toBe('UNAUTHENTICATED');
  expect(words).toContain('RATE_LIMITED');
  expect(closed).toEqual([]);
  // They count against the address of the socket, and valid tokens do not.
  const models = async (clientIp: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await SELF.fetch(`${API}/models`, { headers, ...fromAddress(clientIp) })).status;
  };
  const seen: number[] = [];
  // What has come back to the bucket meanwhile is used up first.
  while (seen.at(-1) !== 429 && seen.length < flood) seen.push(await models('203.0.113.50:2', 'x'));
  expect(seen.at(-1)).toBe(429);
  expect(await models('203.0.113.51:1', 'x')).toBe(401);
  expect(await models('203.0.113.50:2', await tokenFor())).toBe(200);
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
