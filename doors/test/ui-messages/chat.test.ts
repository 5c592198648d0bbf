import { abortAllDurableObjects } from 'cloudflare:test';
import type { UIMessageChunk } from 'ai';
import { describe, expect, it, vi } from 'vitest';
import { responseIdOf } from '../../../shared/ids.ts';
import { call, chat, errorOf, scriptModel, tokenFor } from '../../../test/worker/api.ts';
import { endFrames, holdModel, textFrame } from '../../../test/worker/conversation/held-model.ts';
import { quicken } from '../../../test/worker/follow/watching.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { UI_LIMITS } from '../../ui-messages/limits.ts';
import { post, readMessage, TestChat, textOf, untilText, userMessage } from './chatting.ts';

const newId = () => `chat-${crypto.randomUUID()}`;

/** What the model was sent last, as one text. */
function saidTo(requests: readonly { readonly messages: unknown }[]): string {
  return JSON.stringify(requests.at(-1)?.messages);
}

it('a message hands over the places that it names, as data', async () => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const parts = [
    { type: 'text', text: 'see' },
    { type: 'data-mention', data: { path: 'a "b".ts', lines: { from: 1, to: 2 } } },
    { type: 'data-mention', data: { url: 'https://a.test/x' } },
    { type: 'data-mine', data: {} },
  ];
  const body = (given: unknown) => ({
    id: newId(),
    messages: [{ id: 'one', role: 'user', parts: given }],
  });
  await (await post(body(parts))).text();
  expect(saidTo(requests)).toContain(
    JSON.stringify('see @"a \\"b\\".ts":1-2 @https://a.test/x').slice(1, -1),
  );
  const wrong = [{ type: 'data-mention', data: { url: 'file:///etc/passwd' } }];
  expect((await post(body(wrong))).status).toBe(400);
});

describe('a chat goes on', () => {
  it('in its conversation, which gets only what is new', async () => {
    const requests = scriptModel((_, number) => ({ text: `Answer ${number}.` }));
    const own = new TestChat(newId());
    const first = await own.say('walrus');
    expect([textOf(first), first.id]).toEqual([
      'Answer 0.',
      expect.stringMatching(/^chat_.*0001$/),
    ]);
    const second = await own.say('ferret');
    expect(second.id).toMatch(/0002$/);
    expect(second.metadata).toMatchObject(
      Object(first.metadata).conversationId && {
        conversationId: Object(first.metadata).conversationId,
      },
    );
    expect(saidTo(requests).match(/walrus/g)).toHaveLength(1);
    expect(saidTo(requests)).toMatch(/walrus.*Answer 0.*ferret/s);
  });

  it('in a fork after an earlier answer, and in the fork after that', async () => {
    const requests = scriptModel((_, number) => ({ text: `Answer ${number}.` }));
    const own = new TestChat(newId());
    await own.say('walrus');
    const second = await own.say('ferret');
    const again = await own.regenerate();
    expect(Object(again.metadata).conversationId).not.toBe(Object(second.metadata).conversationId);
    expect(saidTo(requests)).toMatch(/walrus.*Answer 0.*ferret/s);
    expect(saidTo(requests)).not.toContain('Answer 1');
    const third = await own.say('marmot');
    expect(Object(third.metadata).conversationId).toBe(Object(again.metadata).conversationId);
    expect(saidTo(requests)).toMatch(/ferret.*Answer 2.*marmot/s);
  });

  it('anew with another answer to its first message', async () => {
    const requests = scriptModel((_, number) => ({ text: `Answer ${number}.` }));
    const own = new TestChat(newId());
    const first = await own.say('walrus');
    const again = await own.regenerate();
    expect(again.id).not.toBe(first.id);
    expect(again.id).toMatch(/0001$/);
    expect(saidTo(requests)).not.toContain('Answer 0');
  });

  it('with the id of a conversation, also without its messages', async () => {
    const requests = scriptModel((_, number) => ({ text: `Answer ${number}.` }));
    const { conversationId } = await chat('walrus');
    const own = new TestChat(conversationId);
    const answer = await own.say('ferret');
    expect(answer.id).toBe(responseIdOf(conversationId, 2));
    expect(saidTo(requests)).toMatch(/walrus.*Answer 0.*ferret/s);
    const strange = new TestChat(conversationId, { account: 'eve' });
    await expect(strange.say('marmot')).rejects.toThrow('NOT_FOUND');
  });

  it('as a copy in a chat with another id', async () => {
    scriptModel((_, number) => ({ text: `Answer ${number}.` }));
    const one = new TestChat(newId());
    await one.say('walrus');
    const other = new TestChat(newId());
    other.messages = [...one.messages];
    const copied = await other.say('ferret');
    expect(copied.id).not.toBe(responseIdOf(Object(one.messages[1]?.metadata).conversationId, 2));
    const goesOn = await one.say('marmot');
    expect(goesOn.id).toMatch(/0002$/);
  });

  it('apart from the chat of another account with the same id', async () => {
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    const id = newId();
    await new TestChat(id, { account: 'ada' }).say('walrus');
    await new TestChat(id, { account: 'bob' }).say('ferret');
    expect(saidTo(requests)).not.toContain('walrus');
    const stolen = new TestChat(id, { account: 'eve' });
    stolen.messages = [
      {
        id: responseIdOf(`conv_${crypto.randomUUID().slice(0, -4)}0000`, 1),
        role: 'assistant',
        parts: [],
      },
    ];
    await expect(stolen.say('marmot')).rejects.toThrow('NOT_FOUND');
  });
});

describe('what a message holds', () => {
  it('the history of another agent is read as data', async () => {
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    const own = new TestChat(newId(), { body: { system: 'Be brief.' } });
    own.messages = [
      userMessage('weather?'),
      {
        id: 'other-1',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'Hm.' },
          {
            type: 'tool-weather',
            toolCallId: 't1',
            state: 'output-available',
            input: { city: 'Rome' },
            output: { sky: 'blue' },
          },
          { type: 'text', text: 'Blue.' },
        ],
      },
    ];
    await own.say('thanks');
    expect(saidTo(requests)).toMatch(/Be brief.*weather\?.*Blue\..*weather\(.*Rome.*blue.*thanks/s);
    expect(saidTo(requests)).not.toContain('Hm.');
  });

  it('an image reaches the model', async () => {
    const requests = scriptModel(() => ({ text: 'A cat.' }));
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const own = new TestChat(newId());
    own.messages = [];
    const image = { type: 'file' as const, mediaType: 'image/png', url };
    const message = { id: 'm', role: 'user' as const, parts: [image] };
    const response = await post({ id: newId(), messages: [message] });
    expect(response.status).toBe(200);
    await response.text();
    expect(saidTo(requests)).toContain(url);
  });

  it.each([
    ['no message', [], 'messages'],
    ['no text', [userMessage(' ')], 'The last message must have the role user, and a text'],
    ['no parts', [{ id: 'm', role: 'user', parts: [] }], 'The last message must'],
    [
      'an answer last',
      [userMessage('a'), { id: 'x', role: 'assistant', parts: [{ type: 'tool-x' }] }],
      'messages[1].role: The last',
    ],
    [
      'another file',
      [
        {
          id: 'm',
          role: 'user',
          parts: [{ type: 'file', mediaType: 'application/pdf', url: 'data:,' }],
        },
      ],
      'messages[0].parts[0].mediaType: Only images and text files can be attached',
    ],
    [
      'an image of another kind',
      [
        {
          id: 'm',
          role: 'user',
          parts: [
            { type: 'file', mediaType: 'image/svg+xml', url: 'data:image/svg+xml;base64,PHN2Zz4=' },
          ],
        },
      ],
      'An image is an https URL',
    ],
    ['a garbage part', [{ id: 'm', role: 'user', parts: [5] }], 'messages'],
  ])('%s is refused', async (_, messages, words) => {
    const response = await post({ id: newId(), messages, trigger: 'submit-message' });
    expect(await errorOf(response)).toMatchObject({
      status: 400,
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(words),
    });
  });

  it.each([[{ 'show map': {} }], [[{ name: 'weather' }]]])(
    'tools of the page need names that a model takes: %j',
    async (tools) => {
      const response = await post({ id: newId(), messages: [userMessage('a')], tools });
      const message = expect.stringMatching(/^tools/);
      expect(await errorOf(response)).toMatchObject({ status: 400, message });
    },
  );
});

describe('tools of the page', () => {
  const body = {
    tools: { show_map: { description: 'Shows it.', parameters: { type: 'object' } } },
  };

  /** A model that looks at the map first. */
  function scriptMap() {
    return scriptModel(({ messages }) =>
      /show me/.test(JSON.stringify(messages.at(-1)))
        ? { text: 'I look.', calls: [{ name: 'show_map', arguments: { place: 'Rome' } }] }
        : { text: 'There it is.' },
    );
  }

  it('an answer ends with their calls, and its message goes on with the results', async () => {
    const requests = scriptMap();
    const own = new TestChat(newId(), { body });
    const asked = await own.say('show me');
    const called = {
      type: 'tool-show_map',
      toolCallId: expect.stringMatching(/^call_[\da-z]{33,36}$/),
      input: { place: 'Rome' },
    };
    expect(asked.parts).toContainEqual({ ...called, state: 'input-available' });
    const resumed = await own.resume();
    expect(resumed && (await readMessage(resumed)).parts).toEqual(asked.parts);

    const whole = await own.returns({ shown: true });
    expect(whole.id).toBe(asked.id);
    expect(whole.parts).toContainEqual({
      ...called,
      state: 'output-available',
      output: { shown: true },
    });
    expect(textOf(whole)).toBe('I look.There it is.');
    expect(requests.at(-1)?.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: '{"shown":true}',
    });
    expect(await own.resume()).toBeNull();
    const next = await own.say('thanks');
    expect(next.id).toMatch(/0002$/);
    expect(saidTo(requests).match(/shown/g)).toHaveLength(1);
  });

  it.each([[{}], [[]], [null]])('may be none: %j', async (tools) => {
    scriptMap();
    const own = new TestChat(newId(), { body: { tools } });
    expect(textOf(await own.say('hello'))).toBe('There it is.');
  });

  it('results that came already are refused, and the chat goes on', async () => {
    scriptMap();
    const own = new TestChat(newId(), { body });
    const asked = await own.say('show me');
    await own.returns('shown');
    const [question] = own.messages;
    const parts = asked.parts.map((part) =>
      'toolCallId' in part ? { ...part, state: 'output-available', output: 'other' } : part,
    );
    const again = await post({ id: own.id, messages: [question, { ...asked, parts }] });
    expect(await errorOf(again)).toMatchObject({ status: 409, code: 'ALREADY_ANSWERED' });
    expect(textOf(await own.say('thanks'))).toBe('There it is.');
  });

  it('a message behind an open call ends the run that waits, and brings the results as data', async () => {
    const requests = scriptMap();
    const own = new TestChat(newId(), { body });
    await own.say('show me');
    const last = own.messages.at(-1);
    const parts = last?.parts.map((part) =>
      'toolCallId' in part ? { ...part, state: 'output-error', errorText: 'no map' } : part,
    );
    own.messages = [...own.messages.slice(0, -1), { ...last, parts } as never];
    expect(textOf(await own.say('never mind'))).toBe('There it is.');
    expect(saidTo(requests)).toMatch(/earlier_tool_result.*no map.*never mind/s);
    expect(await own.resume()).toBeNull();
  });
});

describe('a reader that leaves', () => {
  it('ends the run, after a grace', async () => {
    quicken({ [UI_LIMITS.graceMs]: 5 });
    const model = holdModel();
    const leaving = new AbortController();
    const own = new TestChat(newId());
    const streaming = own.stream('go', leaving.signal);
    const reply = await model.next();
    reply.send(textFrame('Half a '));
    const reader = (await streaming).getReader();
    await untilText(reader, 'Half');
    leaving.abort();
    await reply.untilAborted();
    expect(await own.resume()).toBeNull();
  });

  it('and comes back gets the whole message, and the run goes on', async () => {
    quicken({ [UI_LIMITS.graceMs]: 500 });
    const model = holdModel();
    const leaving = new AbortController();
    const own = new TestChat(`chat/ü?${crypto.randomUUID()} %2F`);
    const streaming = own.stream('go', leaving.signal);
    const reply = await model.next();
    reply.send(textFrame('Half a '));
    await untilText((await streaming).getReader(), 'Half');
    leaving.abort();
    const resumed = await own.resume();
    if (!resumed) throw new Error('there is nothing to resume');
    const reading = readMessage(resumed);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    reply.send(textFrame('loaf.'), ...endFrames('stop'));
    reply.close();
    expect(textOf(await reading)).toBe('Half a loaf.');
    expect(await own.resume()).toBeNull();
  });

  it('may let the run go on', async () => {
    quicken({ [UI_LIMITS.graceMs]: 5 });
    const model = holdModel();
    const leaving = new AbortController();
    const own = new TestChat(newId(), { headers: { 'drawbridge-if-left': 'continue' } });
    const streaming = own.stream('go', leaving.signal);
    const reply = await model.next();
    reply.send(textFrame('Half a '));
    const [start] = await untilText((await streaming).getReader(), 'Half');
    leaving.abort();
    await new Promise((resolve) => setTimeout(resolve, 300));
    reply.send(textFrame('loaf.'), ...endFrames('stop'));
    reply.close();
    const id = start?.type === 'start' ? start.messageId : '';
    await vi.waitFor(async () => {
      const response = await (await call(`chat/completions/${id}`)).json();
      expect(response).toMatchObject({ status: 'completed' });
    });
  });

  it('and writes at once is answered at once', async () => {
    const model = holdModel();
    const leaving = new AbortController();
    const own = new TestChat(newId());
    const streaming = own.stream('go', leaving.signal);
    const stopped = await model.next();
    stopped.send(textFrame('Half a '));
    const [start] = await untilText((await streaming).getReader(), 'Half');
    leaving.abort();
    const id = start?.type === 'start' ? (start.messageId ?? '') : '';
    own.messages.push({ id, role: 'assistant', parts: [{ type: 'text', text: 'Half a ' }] });
    const answering = own.say('no, this');
    await stopped.untilAborted();
    (await model.next()).answer({ text: 'This.' });
    expect(textOf(await answering)).toBe('This.');
  });
});

it('an answer that is made again ends the one in its place at once', async () => {
  const model = holdModel();
  const own = new TestChat(newId());
  const streaming = own.stream('go');
  const first = await model.next();
  const reader = (await streaming).getReader();
  own.messages.push({ id: 'half', role: 'assistant', parts: [] });
  const again = own.regenerate();
  await first.untilAborted();
  (await model.next()).answer({ text: 'Again.' });
  expect(textOf(await again)).toBe('Again.');
  const chunks: UIMessageChunk[] = [];
  for (let read = await reader.read(); read.value; read = await reader.read()) {
    chunks.push(read.value);
  }
  expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
});

it('a crash resets the step that it took back', async () => {
  const model = holdModel();
  const own = new TestChat(newId());
  const streaming = own.stream('go');
  (await model.next()).send(textFrame('These words are lost. '));
  const reader = (await streaming).getReader();
  const chunks = await untilText(reader, 'are ');
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'Other words.' });
  for (let read = await reader.read(); read.value; read = await reader.read()) {
    chunks.push(read.value);
  }
  expect(chunks.filter(({ type }) => type === 'reset-step')).toHaveLength(1);
  const whole = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  expect(textOf(await readMessage(whole))).toBe('Other words.');
});

it('a resume leaves out the chunks that the reader has', async () => {
  const model = holdModel();
  const own = new TestChat(newId());
  const streaming = own.stream('go');
  const reply = await model.next();
  reply.send(textFrame('One two three'));
  const had = await untilText((await streaming).getReader(), 'two ');
  const resuming = call(`ui/chat/${own.id}/stream?after=${had.length - 1}`);
  const response = await resuming;
  reply.send(textFrame(' four'), ...endFrames('stop'));
  reply.close();
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  expect(lines.map((line) => JSON.parse(line.slice('data: '.length)))).toMatchObject([
    ...[
      { type: 'text-delta', delta: 'three ' },
      { type: 'text-delta', delta: 'four' },
    ],
    { type: 'text-end' },
    ...[{ type: 'finish-step' }, { type: 'finish', finishReason: 'stop' }],
  ]);
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
});

it('a failed run ends with the words of its error, and without a stack', async () => {
  scriptModel(() => new Response('{"error":{"message":"no such model: x"}}', { status: 404 }));
  const failed = new TestChat(newId()).say('go');
  await expect(failed).rejects.toThrow('UPSTREAM_ERROR: no such model: x');
});

describe('a stream that ends before its run', () => {
  async function errorAtEnd(stream: ReadableStream<UIMessageChunk>): Promise<string | undefined> {
    let last: UIMessageChunk | undefined;
    for await (const chunk of stream) last = chunk;
    return last?.type === 'error' ? last.errorText : undefined;
  }

  it('says that its token has ended, and another one resumes it', async () => {
    quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5, [UI_LIMITS.graceMs]: 5 });
    const model = holdModel();
    const authorization = `Bearer ${await tokenFor({ expires: '1m' })}`;
    const id = newId();
    const stream = await new TestChat(id, { headers: { authorization } }).stream('go');
    const reply = await model.next();
    vi.setSystemTime(Date.now() + 61_000);
    expect(await errorAtEnd(stream)).toMatch(/^UNAUTHENTICATED: .*resume/);
    vi.useRealTimers();
    const resumed = await new TestChat(id).resume();
    reply.answer({ text: 'Whole.' });
    expect(resumed && textOf(await readMessage(resumed))).toBe('Whole.');
  });

  it('says that its conversation was deleted', async () => {
    const model = holdModel();
    const stream = await new TestChat(newId()).stream('go');
    await model.next();
    const { items } = await (await call('conversations')).json<{ items: { id: string }[] }>();
    await call(`conversations/${items[0]?.id}`, { method: 'DELETE' });
    expect(await errorAtEnd(stream)).toBe('NOT_FOUND: The conversation was deleted');
  });
});
