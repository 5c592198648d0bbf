import { expect, it, vi } from 'vitest';
import { complete, completed, openAiError } from '../../doors/test/openai/completing.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { Account } from '../../worker/account/object.ts';
import { Conversation } from '../../worker/conversation/object.ts';
import { FOLLOW_LIMITS } from '../../worker/follow/limits.ts';
import { REACH_LIMITS, reach, unlessReset } from '../../worker/reach.ts';
import { ask, call, chat, errorOf, scriptModel } from './api.ts';
import { quicken } from './follow/watching.ts';

const UNAVAILABLE = {
  status: 503,
  code: 'UNAVAILABLE',
  details: { retryAfterSeconds: REACH_LIMITS.retryAfterSeconds },
};

type Method = 'fetch' | 'submit' | 'find' | 'cancel' | 'fork';
type Work = (...args: unknown[]) => unknown;

/** Resets the conversation's object under calls of this method, before or after it has done its work. */
function resetUnder(method: Method, when: 'before' | 'after' = 'before', times = 1) {
  const prototype = Conversation.prototype as unknown as Record<Method, Work>;
  const work = prototype[method];
  const spy = vi.spyOn(prototype, method);
  for (let count = 0; count < times; count++) spy.mockImplementationOnce(reset);
  return spy;

  async function reset(this: { ctx: DurableObjectState }, ...args: unknown[]): Promise<unknown> {
    if (when === 'after') {
      await work.apply(this, args);
      await this.ctx.storage.sync();
    }
    this.ctx.abort('reset by a test');
    return await new Promise(() => undefined);
  }
}

async function messagesOf(conversationId: string): Promise<string[]> {
  const view = await (await call(`conversations/${conversationId}`)).json<{
    messages: { content: string }[];
  }>();
  return view.messages.map(({ content }) => content);
}

it.each<[string, Method, (id: string, conversationId: string) => Promise<Response>, number]>([
  ['a response', 'fetch', (id) => call(`chat/completions/${id}`), 200],
  ['a conversation', 'fetch', (_, id) => call(`conversations/${id}`), 200],
  ['an export', 'fetch', (_, id) => call(`conversations/${id}/export`), 200],
  ['a ticket', 'find', (responseId) => call('tickets', { body: { responseId } }), 201],
  ['a cancel', 'cancel', (id) => call(`chat/completions/${id}/cancel`, { method: 'POST' }), 200],
  ['an edited message', 'fork', (editOf) => ask('otherwise', { editOf }), 200],
])('asks an object again after a reset for %s', async (_, method, request, status) => {
  scriptModel(() => ({ text: 'Done.' }));
  const { id, conversationId } = await chat('hello');
  const asked = resetUnder(method);
  expect((await request(id, conversationId)).status).toBe(status);
  expect(asked.mock.calls.length).toBeGreaterThanOrEqual(2);
});

it.each(['before', 'after'] as const)(
  'keeps a message that begins a conversation once, with a reset %s it was stored',
  async (when) => {
    scriptModel(() => ({ text: 'Done.' }));
    const submits = resetUnder('submit', when);
    const response = await chat('hello');
    expect(response.status).toBe('completed');
    expect(await messagesOf(response.conversationId)).toEqual(['hello']);
    expect(submits).toHaveBeenCalledTimes(2);
  },
);

it.each(['before', 'after'] as const)(
  'keeps a message with a key once, with a reset %s it was stored',
  async (when) => {
    scriptModel(() => ({ text: 'Done.' }));
    const { conversationId } = await chat('hello');
    resetUnder('submit', when);
    const response = await call('chat/completions', {
      body: { conversationId, messages: [{ role: 'user', content: 'more' }] },
      headers: { 'idempotency-key': `key-${when}` },
    });
    expect(response.status).toBe(200);
    expect(await messagesOf(conversationId)).toEqual(['hello', 'more']);
  },
);

it('runs a completion of OpenAI’s shape once over a reset', async () => {
  const requests = scriptModel(() => ({ text: 'Done.' }));
  resetUnder('submit', 'after');
  expect(await completed()).toMatchObject({ choices: [{ message: { content: 'Done.' } }] });
  expect(requests).toHaveLength(1);
});

it('does not repeat a message without a key after a reset: the client learns what to do', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const { conversationId } = await chat('hello');
  const submits = resetUnder('submit');
  const response = await ask('more', { conversationId });
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await errorOf(response)).toEqual({
    ...UNAVAILABLE,
    message: expect.stringContaining('Idempotency-Key'),
  });
  expect(submits).toHaveBeenCalledTimes(1);
});

it('gives up an object that does not come back', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const { id } = await chat('hello');
  const reads = resetUnder('fetch', 'before', 10);
  expect(await errorOf(await call(`chat/completions/${id}`))).toMatchObject(UNAVAILABLE);
  expect(reads).toHaveBeenCalledTimes(1 + REACH_LIMITS.maxRepeats);
});

it('lists no conversation whose object never took the message', async () => {
  const title = `never begun ${crypto.randomUUID()}`;
  const submits = resetUnder('submit', 'before', 10);
  expect((await ask(title)).status).toBe(503);
  expect(submits).toHaveBeenCalled();
  const list = await call(`conversations?search=${encodeURIComponent(title)}`);
  expect(await list.json()).toEqual({ items: [], nextCursor: null });
});

it('does not advise to repeat a message that may have begun a conversation', async () => {
  const requests = scriptModel(() => ({ text: 'Done.' }));
  resetUnder('submit', 'after', 10);
  expect(await errorOf(await ask('hello'))).toEqual({
    ...UNAVAILABLE,
    message: expect.stringContaining('may or may not have been carried out'),
  });
  expect((await complete()).headers.get('x-should-retry')).toBe('false');
  expect(requests.length).toBeLessThanOrEqual(2);
});

it.each([true, false])(
  'an object that does not come back makes no client of OpenAI’s shape run its tools twice (stream: %s)',
  async (stream) => {
    quicken({ [FOLLOW_LIMITS.reattachMs]: 1 });
    vi.spyOn(console, 'error').mockReturnValue();
    scriptModel(() => ({ text: 'Done.' }));
    const cancels = vi.spyOn(Conversation.prototype, 'cancel');
    resetUnder('fetch', 'before', 1 + FOLLOW_LIMITS.maxReattaches);
    const answer = await complete({ stream });
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await openAiError(answer)).toMatchObject({ status: 424, code: 'answer_lost' });
    await vi.waitFor(() => expect(cancels).toHaveBeenCalled());
  },
);

it('reports a bug in an object as INTERNAL, and asks once', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const { id: responseId } = await chat('hello');
  vi.spyOn(console, 'error').mockReturnValue();
  const finds = vi.spyOn(Conversation.prototype, 'find').mockImplementation(() => {
    throw new TypeError('a bug');
  });
  const response = await call('tickets', { body: { responseId } });
  expect(await errorOf(response)).toMatchObject({ status: 500, code: 'INTERNAL' });
  expect(finds).toHaveBeenCalledTimes(1);
});

it('asks an account’s object again after a reset', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const begins = vi.spyOn(Account.prototype, 'begin');
  begins.mockImplementationOnce(function (this: Account) {
    (this as unknown as { ctx: DurableObjectState }).ctx.abort('reset by a test');
    return null;
  });
  expect(await chat('hello')).toMatchObject({ status: 'completed' });
  expect(begins).toHaveBeenCalledTimes(2);
});

const marked = (marks: object) => Object.assign(new Error('from the runtime'), marks);

it.each<[string, Error, number]>([
  ['a reset', marked({ durableObjectReset: true, remote: true }), 1 + REACH_LIMITS.maxRepeats],
  ['a lost connection', marked({ retryable: true }), 1 + REACH_LIMITS.maxRepeats],
  ['too much load', marked({ overloaded: true, retryable: true }), 1],
])('a call is unavailable after %s', async (_, error, calls) => {
  const work = vi.fn(() => Promise.reject(error));
  await expect(reach(work)).rejects.toMatchObject({ code: 'UNAVAILABLE', cause: error });
  expect(work).toHaveBeenCalledTimes(calls);
});

it.each([
  ['an expected failure', new DrawbridgeError('NOT_FOUND', 'no')],
  ['a bug in the object', marked({ remote: true })],
])('an error of a call stays as it is: %s', async (_, error) => {
  const work = vi.fn(() => Promise.reject(error));
  await expect(reach(work)).rejects.toBe(error);
  expect(work).toHaveBeenCalledTimes(1);
});

it('an error without a mark is thrown as it is after the repeats', async () => {
  const work = vi.fn(() => Promise.reject(marked({})));
  await expect(reach(work)).rejects.toThrow('from the runtime');
  expect(work).toHaveBeenCalledTimes(1 + REACH_LIMITS.maxRepeats);
});

it.each<[object, boolean]>([
  [{ retryable: true }, true],
  [{ durableObjectReset: true }, true],
  [{ overloaded: true }, true],
  [{ remote: true }, false],
  [{}, false],
])('without repeats, %o is unavailable: %s', (marks, expected) => {
  const error = marked(marks);
  const shown = unlessReset(error);
  expect(shown instanceof DrawbridgeError && shown.code === 'UNAVAILABLE').toBe(expected);
  expect(shown === error).toBe(!expected);
});
