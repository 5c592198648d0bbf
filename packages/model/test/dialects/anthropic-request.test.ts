import { expect, it } from 'vitest';
import { ModelSwitches } from '../../../../shared/settings/models.ts';
import { formatAnthropic } from '../../dialects/anthropic/format.ts';
import type { ServerTarget } from '../../models.ts';
import type { UpstreamMessage, UpstreamRequest } from '../../request.ts';
import { targetOf } from '../target.ts';

const MARK = { cache_control: { type: 'ephemeral' } };
const THINKING = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };
const AGAIN = { type: 'redacted_thinking', data: 'xyz' };
const TOOL = {
  type: 'function' as const,
  function: { name: 'read', description: 'Reads.', parameters: { type: 'object' } },
};

const SYSTEM: UpstreamMessage = { role: 'system', content: 'You help.' };
const USER: UpstreamMessage = { role: 'user', content: 'go' };
const CALLING: UpstreamMessage = {
  role: 'assistant',
  content: 'I look.',
  tool_calls: [callOf('toolu_1', '{"path":"a"}'), callOf('toolu_2', '{}')],
  reasoning: 'Hm.',
  reasoning_details: [thought(THINKING, 0), thought(AGAIN, 2)],
};
const RESULTS: UpstreamMessage[] = [
  { role: 'tool', tool_call_id: 'toolu_1', content: 'one' },
  { role: 'tool', tool_call_id: 'toolu_2', content: '' },
];

function callOf(id: string, args: string) {
  return { id, type: 'function' as const, function: { name: 'read', arguments: args } };
}

function thought(item: object, place: number, more: object = {}) {
  return { dialect: 'anthropic', model: 'claude', place, item, ...more };
}

interface Body {
  readonly system?: object[];
  readonly tools?: object[];
  readonly messages: readonly { role: string; content: { type: string }[] }[];
  readonly [field: string]: unknown;
}

function bodyOf(
  request: Partial<UpstreamRequest>,
  switches: object = {},
  changes: Partial<ServerTarget> = {},
): Body {
  const target = targetOf({
    dialect: 'anthropic',
    upstreamId: 'claude',
    switches: ModelSwitches.parse(switches),
    ...changes,
  });
  return formatAnthropic({ model: 'm', messages: [USER], tools: [], ...request }, target) as Body;
}

it('shows a tool loop in blocks, with results together, and marks four places to cache', () => {
  const messages = [SYSTEM, USER, CALLING, ...RESULTS];
  expect(bodyOf({ messages, tools: [TOOL, TOOL] })).toEqual({
    model: 'claude',
    max_tokens: 8_192,
    system: [{ type: 'text', text: 'You help.', ...MARK }],
    tools: [
      { name: 'read', description: 'Reads.', input_schema: { type: 'object' } },
      { name: 'read', description: 'Reads.', input_schema: { type: 'object' }, ...MARK },
    ],
    tool_choice: { type: 'auto' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'go', ...MARK }] },
      {
        role: 'assistant',
        content: [
          THINKING,
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' } },
          AGAIN,
          { type: 'tool_use', id: 'toolu_2', name: 'read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'one' }] },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: [], ...MARK },
        ],
      },
    ],
    stream: true,
  });
});

it('marks nothing in a request that no other one begins like', () => {
  const body = bodyOf({ messages: [SYSTEM, USER], tools: [TOOL], isOnce: true });
  expect(JSON.stringify(body)).not.toContain('cache_control');
});

it('keeps what it said before, but for the marks, byte for byte', () => {
  const first = bodyOf({ messages: [SYSTEM, USER, CALLING, ...RESULTS] });
  const second = bodyOf({ messages: [SYSTEM, USER, CALLING, ...RESULTS, CALLING, ...RESULTS] });
  const plain = (body: Body) =>
    JSON.stringify(body.messages).replaceAll(`,"cache_control":{"type":"ephemeral"}`, '');
  expect(plain(second).startsWith(plain(first).slice(0, -1))).toBe(true);
});

it('names the tools of old calls where none is on offer any more', () => {
  const body = bodyOf({ messages: [USER, CALLING, ...RESULTS, USER] });
  expect(body.tools).toEqual([{ name: 'read', input_schema: { type: 'object' }, ...MARK }]);
  expect(body['tool_choice']).toEqual({ type: 'none' });
  expect(bodyOf({})).not.toHaveProperty('tools');
});

it('moves a choice at the root of a schema into its properties', () => {
  const text = { type: 'string' };
  const parameters = {
    type: 'object',
    properties: { id: text },
    required: ['id'],
    $defs: {},
    anyOf: [
      { properties: { url: text }, required: ['url'] },
      { properties: { id: {}, file: text } },
    ],
  };
  const tool = { type: 'function' as const, function: { name: 'attach', parameters } };
  expect(bodyOf({ tools: [tool], isOnce: true }).tools).toMatchObject([
    {
      input_schema: {
        type: 'object',
        required: ['id'],
        $defs: {},
        properties: { id: text, url: text, file: text },
      },
    },
  ]);
  expect(JSON.stringify(bodyOf({ tools: [tool] }).tools)).not.toContain('anyOf');
});

const rolesOf = (messages: UpstreamMessage[]) =>
  bodyOf({ messages }).messages.map(({ role, content }) => [role, ...content.map(typeOf)]);
const typeOf = ({ type }: { type: string }) => type;

it.each<[string, UpstreamMessage[], string[][]]>([
  [
    'a message behind results stands in their turn',
    [USER, CALLING, ...RESULTS, USER],
    [
      ['user', 'text'],
      ['assistant', 'thinking', 'text', 'tool_use', 'redacted_thinking', 'tool_use'],
      ['user', 'tool_result', 'tool_result', 'text'],
    ],
  ],
  [
    'two answers are one',
    [USER, { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }, USER],
    [
      ['user', 'text'],
      ['assistant', 'text', 'text'],
      ['user', 'text'],
    ],
  ],
  [
    'an answer is not the first',
    [{ role: 'assistant', content: 'a' }, USER],
    [
      ['user', 'text'],
      ['assistant', 'text'],
      ['user', 'text'],
    ],
  ],
  ['blank texts are left out', [{ role: 'user', content: ' \n' }, USER], [['user', 'text']]],
])('the turns of Anthropic take %s', (_, messages, roles) => {
  expect(rolesOf(messages)).toEqual(roles);
});

it('sends images by their data or their address', () => {
  const content = ['data:image/png;base64,AAAA', 'https://x.test/a.png'].map((url) => ({
    type: 'image_url' as const,
    image_url: { url },
  }));
  const { messages } = bodyOf({ messages: [{ role: 'user', content }], isOnce: true });
  expect(messages[0]?.content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
  ]);
});

it('takes ids and arguments that another API has made', () => {
  const calling = { ...CALLING, tool_calls: [callOf('functions.read:0', 'not json')] };
  const messages = [USER, calling, { ...RESULTS[0], tool_call_id: 'functions.read:0' }];
  const [, said, back] = bodyOf({ messages: messages as UpstreamMessage[] }).messages;
  const id = 'functions_2eread_3a0';
  expect(said?.content).toContainEqual({
    type: 'tool_use',
    id,
    name: 'read',
    input: { arguments: 'not json' },
  });
  expect(back?.content).toMatchObject([{ tool_use_id: id }]);
});

const thoughtsIn = (details: unknown[], switches: object = {}) => {
  const calling = { ...CALLING, reasoning_details: details };
  const { messages } = bodyOf({ messages: [USER, calling, ...RESULTS] }, switches);
  return messages[1]?.content.filter(({ type }) => type.endsWith('thinking'));
};

it.each<[string, unknown]>([
  ['another model', thought(THINKING, 0, { model: 'other' })],
  ['another API', thought(THINKING, 0, { dialect: 'responses' })],
  ['a gateway', { type: 'reasoning.text', text: 'Hm.' }],
  ['no one known', 'Hm.'],
])('thoughts of %s are not sent', (_, detail) => {
  expect(thoughtsIn([detail])).toEqual([]);
});

it('thoughts behind the last call are left out, because no answer may end with one', () => {
  expect(thoughtsIn([thought(THINKING, 3)])).toEqual([]);
});

it('thoughts are not sent where the switch says so', () => {
  expect(thoughtsIn([thought(THINKING, 0)], { returnReasoning: false })).toEqual([]);
});

const LOOP = [USER, CALLING, ...RESULTS];
const FOREIGN = [USER, { ...CALLING, reasoning_details: [] }, ...RESULTS];
const BUDGET = { type: 'enabled', budget_tokens: 2_000 };
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

it.each<[string, object, UpstreamMessage[], unknown, number]>([
  ['as much as it wants', { thinking: 'adaptive' }, FOREIGN, ADAPTIVE, 32_000],
  ['with a budget', { thinking: 2_000 }, LOOP, BUDGET, 10_192],
  ['not with a budget behind an answer without', { thinking: 2_000 }, FOREIGN, undefined, 10_192],
  ['not at all', {}, LOOP, undefined, 8_192],
])('the settings let the model think %s', (_, switches, messages, thinking, maxTokens) => {
  const body = bodyOf({ messages, sampling: { temperature: 0.5 } }, switches);
  expect(body['thinking']).toEqual(thinking);
  expect(body['max_tokens']).toBe(maxTokens);
  expect(body['temperature']).toBe(thinking ? undefined : 0.5);
});

it('the settings keep the limit of the model and of the client, and a budget below it', () => {
  const request = { sampling: { maxTokens: 1_500, user: 'u' } };
  const body = bodyOf(request, { thinking: 2_000 }, { maxOutputTokens: 9_000 });
  expect(body).toMatchObject({ max_tokens: 1_500, metadata: { user_id: 'u' } });
  expect(body).not.toHaveProperty('thinking');
});

it.each([
  [0, 0],
  [1, 1],
  [1.5, 1],
])('the settings keep a temperature of %d within the range of the API: %d', (temperature, sent) => {
  expect(bodyOf({ sampling: { temperature } })['temperature']).toBe(sent);
});

it('the settings say how much the model thinks, and that calls come one by one', () => {
  const switches = { effort: 'low', parallelToolCalls: false };
  expect(bodyOf({ tools: [TOOL] }, switches)).toMatchObject({
    output_config: { effort: 'low' },
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  });
});
