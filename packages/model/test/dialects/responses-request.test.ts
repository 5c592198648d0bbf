import { expect, it } from 'vitest';
import { ModelSwitches } from '../../../../shared/settings/models.ts';
import { formatResponses } from '../../dialects/responses/format.ts';
import type { UpstreamMessage, UpstreamRequest } from '../../request.ts';
import { targetOf } from '../target.ts';

const THOUGHT = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
const TOOL = {
  type: 'function' as const,
  function: { name: 'read', description: 'Reads.', parameters: { type: 'object' } },
};
const USER: UpstreamMessage = { role: 'user', content: 'go' };

function loop(details: readonly unknown[], content = 'I look.'): UpstreamMessage[] {
  const called = { name: 'read', arguments: '{"path":"a"}' };
  return [
    USER,
    {
      role: 'assistant',
      content,
      reasoning: 'Hm.',
      reasoning_details: details,
      tool_calls: ['call_1', 'call_2'].map((id) => ({ id, type: 'function', function: called })),
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'one' },
    { role: 'tool', tool_call_id: 'call_2', content: '' },
  ];
}

function thought(place: number, more: object = {}) {
  return { dialect: 'responses', model: 'gpt', place, item: THOUGHT, ...more };
}

function bodyOf(request: Partial<UpstreamRequest>, switches: object = {}) {
  const target = targetOf({
    dialect: 'responses',
    upstreamId: 'gpt',
    switches: ModelSwitches.parse(switches),
    maxOutputTokens: 9_000,
  });
  const body = formatResponses({ model: 'm', messages: [USER], tools: [], ...request }, target);
  return JSON.parse(JSON.stringify(body));
}

it('shows a tool loop in items, with what the model thought at its places', () => {
  const system: UpstreamMessage = { role: 'system', content: 'You help.' };
  const messages = [system, ...loop([thought(0), thought(2)])];
  const call = { type: 'function_call', name: 'read', arguments: '{"path":"a"}' };
  expect(bodyOf({ messages, tools: [TOOL] })).toEqual({
    model: 'gpt',
    instructions: 'You help.',
    input: [
      { role: 'user', content: 'go' },
      THOUGHT,
      { role: 'assistant', content: 'I look.' },
      { ...call, call_id: 'call_1' },
      THOUGHT,
      { ...call, call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1', output: 'one' },
      { type: 'function_call_output', call_id: 'call_2', output: '' },
    ],
    tools: [
      {
        type: 'function',
        name: 'read',
        description: 'Reads.',
        parameters: { type: 'object' },
        strict: false,
      },
    ],
    tool_choice: 'auto',
    max_output_tokens: 9_000,
    store: false,
    include: ['reasoning.encrypted_content'],
    stream: true,
  });
});

it('sends images, and no message for an answer without text', () => {
  const content = [
    { type: 'text' as const, text: 'Look.' },
    { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } },
  ];
  expect(bodyOf({ messages: [{ role: 'user', content }] }).input).toEqual([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look.' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
      ],
    },
  ]);
  const { input } = bodyOf({ messages: loop([], '') });
  expect(input.map(({ role }: { role?: string }) => role)).not.toContain('assistant');
});

const thoughtsIn = (detail: unknown, switches: object = {}) =>
  bodyOf({ messages: loop([detail]) }, switches).input.filter(
    ({ type }: { type?: string }) => type === 'reasoning',
  );

it.each<[string, unknown]>([
  ['another model', thought(0, { model: 'other' })],
  ['another API', thought(0, { dialect: 'anthropic' })],
  ['a gateway', { type: 'reasoning.encrypted', data: 'x' }],
])('thoughts of %s are not sent', (_, detail) => {
  expect(thoughtsIn(detail)).toEqual([]);
});

it('thoughts are sent without their status, which some servers send and OpenAI refuses', () => {
  const item = { ...THOUGHT, status: 'completed' };
  expect(thoughtsIn(thought(0, { item }))).toEqual([THOUGHT]);
});

it('thoughts are neither sent nor asked for where the switch says so', () => {
  expect(thoughtsIn(thought(0), { returnReasoning: false })).toEqual([]);
  expect(bodyOf({}, { returnReasoning: false })).not.toHaveProperty('include');
});

it('says how much the model thinks, and what the client wants', () => {
  const sampling = { temperature: 0.5, maxTokens: 100, user: 'u' };
  const switches = { effort: 'high', parallelToolCalls: false };
  expect(bodyOf({ tools: [TOOL], sampling }, switches)).toMatchObject({
    reasoning: { effort: 'high', summary: 'auto' },
    parallel_tool_calls: false,
    temperature: 0.5,
    max_output_tokens: 100,
    user: 'u',
  });
});
