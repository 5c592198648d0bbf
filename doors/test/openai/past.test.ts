import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatMessage, type ChatRequest, textOf } from '../../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { fewOf } from '../../../test/depth.ts';
import { scriptModel } from '../../../test/worker/api.ts';
import * as chat from '../../openai/request.ts';
import * as responses from '../../openai/responses/request.ts';
import * as ui from '../../ui-messages/request.ts';
import { post } from '../ui-messages/chatting.ts';
import { callV1 } from './completing.ts';
import {
  CHAT_MESSAGES,
  CHAT_PARTS,
  ODD_ITEM,
  RESPONSE_ITEMS,
  TEXT_URL,
  UI_PARTS,
} from './foreign-items.ts';

/** One API with the shape of its messages. */
interface Door {
  readonly say: (role: string, text: string) => object;
  readonly body: (items: readonly unknown[]) => object;
  readonly send: (body: object) => Promise<Response>;
  readonly parse: (body: object) => ChatRequest;
  /** An item of each type, by its name. */
  readonly foreign: ReadonlyArray<readonly [string, unknown]>;
}

const typed = (table: Readonly<Record<string, object>>) =>
  Object.entries(table).map(([type, fields]) => [type, { type, ...fields }] as const);

const DOORS: Readonly<Record<string, Door>> = {
  '/v1/chat/completions': {
    say: (role, content) => ({ role, content }),
    body: (messages) => ({ messages }),
    send: async (body) => await callV1('chat/completions', {}, JSON.stringify(body)),
    parse: (body) => chat.toChatRequest(chat.CompletionRequest.parse(body)),
    foreign: Object.values(CHAT_MESSAGES)
      .flat()
      .map((message) => [JSON.stringify(message).slice(0, 90), message] as const),
  },
  '/v1/responses': {
    say: (role, content) => ({ role, content }),
    body: (input) => ({ input, store: false }),
    send: async (body) => await callV1('responses', {}, JSON.stringify(body)),
    parse: (body) => responses.toChatRequest(responses.ResponsesRequest.parse(body)),
    foreign: typed(RESPONSE_ITEMS),
  },
  '/api/v1/ui': {
    say: (role, text) => ({ id: 'm', role, parts: [{ type: 'text', text }] }),
    body: (messages) => ({ id: `chat-${crypto.randomUUID()}`, messages }),
    send: post,
    parse: (body) => ui.toChatRequest(ui.UiChatRequest.parse(body)),
    foreign: typed(UI_PARTS).flatMap(([type, part]) =>
      ['assistant', 'user', 'critic'].map(
        (role) => [`${type} of ${role}`, { id: 'x', role, parts: [part] }] as const,
      ),
    ),
  },
};

describe.each(Object.entries(DOORS))('%s', (_, door) => {
  const last = door.say('user', 'new words');
  /** A line of the system directly before the new message is new, too. */
  const around = (items: readonly unknown[]) => [
    [door.say('user', 'walrus'), ...items, door.say('assistant', 'ferret'), last],
    ...(/"role":"(system|developer)"(?!,"tools)/.test(JSON.stringify(items))
      ? []
      : [
          [...items, last],
          [door.say('user', 'walrus'), door.say('assistant', 'ferret'), ...items, last],
        ]),
  ];

  it.each(door.foreign)('answers behind %s', async (_name, item) => {
    const all = around([item]);
    for (const [at, items] of all.slice(0, fewOf(all.length, 1)).entries()) {
      const requests = scriptModel(() => ({ text: 'Hi.' }));
      const response = await door.send(door.body(items));
      const answer = await response.text();
      expect([response.status, answer]).toEqual([200, expect.stringContaining('Hi.')]);
      const said = JSON.stringify(requests[0]?.messages);
      expect(said).toMatch(at === 1 ? /new words/ : /walrus.*ferret.*new words/s);
      expect(said).not.toMatch(/secret|AAAA|JVBER|PHN2Z/);
    }
  });

  it('reads any unknown shape as a message of our own', () => {
    const odd = fc.array(ODD_ITEM, { minLength: 1, maxLength: 3 });
    const isRead = fc.property(odd, (odds) => {
      for (const items of around(odds)) {
        const { messages } = door.parse(door.body(items));
        expect(messages.at(-1)).toEqual({ role: 'user', content: 'new words' });
        for (const message of messages) expect(ChatMessage.parse(message)).toEqual(message);
      }
    });
    fc.assert(isRead, { seed: 1, numRuns: 200 });
  });

  it('answers behind all of them', async () => {
    const odd = fc.sample(ODD_ITEM, { seed: 7, numRuns: 200 });
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    const all = [...odd, ...door.foreign.map(([, item]) => item), door.say('assistant', 'So.')];
    const response = await door.send(door.body([...all, last]));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi.')]);
    expect(JSON.stringify(requests[0]?.messages.at(-1))).toContain('new words');
  });

  it('refuses the same as a new message, with a code and a field', async () => {
    const odd = fc.sample(ODD_ITEM, { seed: 3, numRuns: 40 });
    for (const item of [...odd, ...door.foreign.map(([, each]) => each)]) {
      if (isAsking(item)) continue;
      const response = await door.send(door.body([door.say('user', 'walrus'), item]));
      const { error } = await response.json<{ error: { code: string; message: string } }>();
      expect([item, response.status, error.code]).toEqual([
        ...[item, 400, expect.stringMatching(/^invalid_request$/i)],
      ]);
      expect(error.message).toMatch(/^(messages|input)(\[1\][\w.[\]]*)?: ./);
    }
  });

  it('makes a few words of very many parts', () => {
    const parts = Array(100_000).fill({});
    const items = [{ ...door.say('user', 'x'), content: parts, parts }, last];
    const { messages } = door.parse(door.body(items));
    expect(messages.map(({ content }) => content)).toEqual([
      ...['[unknown item of another provider]', 'new words'],
    ]);
  });

  it('escapes data once, however deep it nests', () => {
    let nested: unknown = '<'.repeat(10_000);
    for (let depth = 0; depth < 40; depth++) nested = { type: 'text', parts: [nested] };
    const items = [{ role: 'critic', parts: [nested] }, last];
    const [data] = door.parse(door.body(items)).messages;
    expect(data?.content.length).toBeLessThan(45_000);
  });

  it('cuts what is longer than a message may be', () => {
    const long = 'x'.repeat(REQUEST_LIMITS.maxMessageChars + 5);
    const items = [door.say('user', long), door.say('assistant', 'So.'), last];
    const { messages } = door.parse(door.body(items));
    expect(messages.map(({ content }) => content.length)).toEqual([
      ...[REQUEST_LIMITS.maxMessageChars, 'So.'.length, 'new words'.length],
    ]);
    expect(() => door.parse(door.body([door.say('user', long)]))).toThrow(/at most/);
  });
});

/** A mark of a step, for example, says nothing, but is no error beside words. */
function isAsking(item: unknown): boolean {
  const { role, content } = Object(item);
  return role === 'user' && typeof content === 'string' && content.trim() !== '';
}

it.each(Object.entries(CHAT_PARTS))('names the field of a new part: %s', async (_, part) => {
  const messages = [{ role: 'user', content: [part] }];
  const response = await callV1('chat/completions', {}, JSON.stringify({ messages }));
  expect(await response.json()).toMatchObject({
    error: { code: 'invalid_request', param: expect.stringMatching(/^messages\[0\]\.content\[0/) },
  });
});

describe('says what it was', () => {
  const read = (input: readonly unknown[]) =>
    responses
      .toChatRequest(responses.ResponsesRequest.parse({ input: [...input, 'x', USER] }))
      .messages.slice(0, -2)
      .map(({ content }) => textOf(content));
  const USER = { role: 'user', content: 'go' };

  it.each<[string, readonly object[], readonly string[]]>([
    ['a search', [{ type: 'web_search_call', id: 'w' }], ['[web search call of another provider]']],
    ['a thought', [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] }], []],
    [
      'a tool with free text',
      [
        { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'a < b' },
        { type: 'custom_tool_call_output', call_id: 'c', output: '3 rows' },
      ],
      ['<earlier_tool_result>\nsql(a &lt; b)\n\n3 rows\n</earlier_tool_result>'],
    ],
    [
      'a result without its call',
      [{ type: 'function_call_output', call_id: 'c9', output: 'x' }],
      ['<earlier_tool_result>\nc9\n\nx\n</earlier_tool_result>'],
    ],
    [
      'a picture of a screen',
      [RESPONSE_ITEMS.computer_call_output].map((item) => ({
        ...item,
        type: 'computer_call_output',
      })),
      ['<earlier_tool_result>\nc1\n\n[computer screenshot, left out]\n</earlier_tool_result>'],
    ],
    [
      'files',
      [
        {
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.pdf', file_id: 'f' },
            { type: 'input_file', filename: 'b.md', file_data: TEXT_URL },
            { type: 'input_text', text: 'see' },
          ],
        },
      ],
      [
        '[file a.pdf, left out]\n\n<attached_file>\nb.md\n# Walrus &lt;b&gt;\n</attached_file>',
        'see',
      ],
    ],
    [
      'a listing, which has no content of files',
      [
        {
          role: 'assistant',
          parts: [{ type: 'tool-ls', toolCallId: 'c', output: [{ type: 'file', path: 'a.ts' }] }],
        },
      ],
      ['<earlier_tool_result>\nls()\n\n{"type":"file","path":"a.ts"}\n</earlier_tool_result>'],
    ],
    [
      'an unknown speaker',
      [{ role: 'critic', content: 'No <b>.' }],
      ['<earlier_message>\ncritic\n\nNo &lt;b&gt;.\n</earlier_message>'],
    ],
  ])('%s', (_, input, expected) => {
    expect(read(input)).toEqual(expected);
  });
});

it('reads a new text file in each shape, and no other', async () => {
  const bodies: [string, object][] = [
    [
      '/v1/chat/completions',
      {
        role: 'user',
        content: [{ type: 'file', file: { filename: 'b.md', file_data: TEXT_URL } }],
      },
    ],
    [
      '/v1/responses',
      { role: 'user', content: [{ type: 'input_file', filename: 'b.md', file_data: TEXT_URL }] },
    ],
    [
      '/api/v1/ui',
      {
        id: 'm',
        role: 'user',
        parts: [{ type: 'file', mediaType: 'text/markdown', filename: 'b.md', url: TEXT_URL }],
      },
    ],
  ];
  for (const [name, message] of bodies) {
    const door = DOORS[name];
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    const text = JSON.stringify(message);
    await (await door?.send(door.body([message])))?.text();
    expect(JSON.stringify(requests[0]?.messages.at(-1))).toContain('b.md\\n# Walrus');
    for (const wrong of ['application/pdf', 'text/plain;charset=x;base64,////']) {
      const other = JSON.parse(text.replaceAll('text/markdown', wrong));
      expect((await door?.send(door.body([other])))?.status).toBe(400);
    }
  }
});

it('leaves old images out for a model that takes none', async () => {
  const image = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];
  const old = { role: 'user', content: image };
  const ask = (messages: object[]) =>
    callV1('chat/completions', {}, JSON.stringify({ model: 'blind', messages }));
  expect((await ask([old])).status).toBe(400);
  const requests = scriptModel(() => ({ text: 'Hi.' }));
  expect((await ask([old, { role: 'user', content: 'never mind' }])).status).toBe(200);
  const said = JSON.stringify(requests[0]?.messages);
  expect(said).toContain('[1 image(s), left out: this model takes none]');
  expect(said).not.toContain('image_url');
});
