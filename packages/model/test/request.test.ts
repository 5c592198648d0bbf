import { expect, it, vi } from 'vitest';
import { ModelSwitches } from '../../../shared/settings/models.ts';
import { streamOf } from '../../../test/far-ends/reply-script.ts';
import { DIALECTS } from '../dialects/dialects.ts';
import { askModel, type GatewayAnswer } from '../gateway.ts';
import { stringifyBody, type UpstreamMessage, type UpstreamRequest } from '../request.ts';
import { targetOf } from './target.ts';

const USER: UpstreamMessage = { role: 'user', content: 'go' };
const CALL = { id: 'c1', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
const RESULT: UpstreamMessage = { role: 'tool', tool_call_id: 'c1', content: 'done' };
const SAID = { role: 'assistant' as const, content: 'Done.' };
const CALLING = { role: 'assistant' as const, content: '', tool_calls: [CALL] };
const REQUEST: UpstreamRequest = {
  model: 'big',
  messages: [USER, { ...CALLING, reasoning: 'I wonder.' }, RESULT, SAID, USER],
  tools: [],
};

type Field = ModelSwitches['reasoningField'];

function messagesFor(reasoningField: Field): unknown {
  const switches = ModelSwitches.parse({ reasoningField });
  return JSON.parse(stringifyBody(DIALECTS.chat.format(REQUEST, targetOf({ switches })))).messages;
}

it('what the model thought is not sent where its server has no field for it', () => {
  expect(ModelSwitches.parse({}).reasoningField).toBe('none');
  expect(messagesFor('none')).toEqual([USER, CALLING, RESULT, SAID, USER]);
});

it.each<Field>(['reasoning_content', 'reasoning'])(
  'what the model thought goes back as %s, and as an empty one where nothing is known of it',
  (field) => {
    expect(messagesFor(field)).toEqual([
      USER,
      { ...CALLING, [field]: 'I wonder.' },
      RESULT,
      { ...SAID, [field]: '' },
      USER,
    ]);
  },
);

const MARK = { cache_control: { type: 'ephemeral' } };
const SYSTEM: UpstreamMessage = { role: 'system', content: 'You help.' };
const bodyFor = (messages: readonly UpstreamMessage[], more: Partial<UpstreamRequest> = {}) => {
  const switches = ModelSwitches.parse({ cacheControl: true });
  const target = targetOf({ switches });
  return JSON.parse(
    JSON.stringify(DIALECTS.chat.format({ ...REQUEST, messages, ...more }, target)),
  );
};

it('the marks for the cache of a gateway are on the system prompt, the newest message and the newest result', () => {
  expect(bodyFor([SYSTEM, USER, SAID, USER, CALLING, RESULT]).messages).toEqual([
    { role: 'system', content: [{ type: 'text', text: 'You help.', ...MARK }] },
    USER,
    SAID,
    { role: 'user', content: [{ type: 'text', text: 'go', ...MARK }] },
    CALLING,
    { ...RESULT, ...MARK },
  ]);
});

it('nothing is marked for the cache of a gateway where no request follows', () => {
  expect(bodyFor([SYSTEM, USER], { isOnce: true }).messages).toEqual([SYSTEM, USER]);
});

it('does not get what a model of another dialect thought', () => {
  const own = { type: 'reasoning.text', text: 'Hm.' };
  const foreign = { dialect: 'anthropic', model: 'big', place: 0, item: { type: 'thinking' } };
  const messages = [
    { ...CALLING, reasoning_details: [foreign, own] },
    { ...CALLING, reasoning_details: [foreign] },
  ];
  const body = DIALECTS.chat.format({ ...REQUEST, messages }, targetOf());
  expect(body).toMatchObject({ messages: [{ ...CALLING, reasoning_details: [own] }, CALLING] });
  expect(JSON.stringify(body)).not.toContain('thinking');
});

it.each([
  ['half an emoji', 'a\ud83d', 'a\ufffd'],
  ['the other half', '\ude00b', '\ufffdb'],
  ['a whole one', '\u{1f600}', '\u{1f600}'],
  ['the escape of a half, spelled out', '\\ud83d', '\\ud83d'],
])('is well-formed, whatever is in it: %s', (_, content, sent) => {
  const calls = [{ ...CALL, function: { name: 'f', arguments: content } }];
  const said = { role: 'assistant' as const, content, tool_calls: calls };
  const body = DIALECTS.chat.format({ ...REQUEST, messages: [said] }, targetOf({}));
  const { messages } = JSON.parse(stringifyBody(body));
  expect(messages).toEqual([
    {
      ...said,
      content: sent,
      tool_calls: [{ ...CALL, function: { name: 'f', arguments: sent } }],
    },
  ]);
});

const wish = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
const refusal = () => Response.json({ error: { message: wish } }, { status: 400 });

it('a server that asks for the reasoning that it did not get is asked once more with it', async () => {
  const { answer, bodies } = ask('none', refusal(), streamOf(HELLO));
  expect((await answer).reply).toMatchObject({ outcome: 'completed', text: 'Hi.' });
  expect(bodies.map(({ messages }) => messages[1])).toEqual([
    CALLING,
    { ...CALLING, reasoning_content: 'I wonder.' },
  ]);
});

it.each<[Field, number]>([
  ['none', 2],
  ['reasoning_content', 1],
])(
  'a server that asks for the reasoning that it did not get, and still refuses, is believed (%s)',
  async (field, attempts) => {
    const { answer, bodies } = ask(field, refusal(), refusal());
    expect((await answer).reply).toMatchObject({ outcome: 'error', error: { message: wish } });
    expect(bodies).toHaveLength(attempts);
  },
);

it('a server that asks for the reasoning that it did not get may refuse other fields besides', async () => {
  const strict = Response.json({ error: { message: 'unknown: stream_options' } }, { status: 400 });
  const { answer, bodies } = ask('none', strict, refusal(), streamOf(HELLO));
  expect((await answer).reply).toMatchObject({ outcome: 'completed' });
  expect(bodies.map((body) => 'stream_options' in body)).toEqual([true, false, false]);
});

const HELLO = [
  `data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi.' }, finish_reason: 'stop' }] })}\n\n`,
];

/** A model server that gives these responses, one for each attempt. */
function ask(reasoningField: Field, ...responses: readonly Response[]) {
  const bodies: { messages: unknown[] }[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    const response = responses[bodies.length];
    bodies.push(JSON.parse(String(init?.body)));
    if (!response) throw new Error('one request too many');
    return response;
  });
  const target = targetOf({ switches: ModelSwitches.parse({ reasoningField }) });
  const answer: Promise<GatewayAnswer> = askModel(
    target,
    REQUEST,
    () => {},
    new AbortController().signal,
  );
  return { answer, bodies };
}
