/** The servers speak Anthropic's Messages and OpenAI's Responses as their public documents describe them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type AnthropicBlock,
  anthropicFrames,
  type ResponseItem,
  responseFrames,
} from '../far-ends/native-events.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { startHouse } from './house.ts';

const MARK = { cache_control: { type: 'ephemeral' } };
const DONE = 'Both say hello.';
const ASKED = { messages: [{ role: 'user' as const, content: 'Read a and b' }] };

it('a tool loop with thoughts and two calls at once, with Anthropic', async () => {
  const thinking: AnthropicBlock = { type: 'thinking', thinking: 'Two files.', signature: 's=' };
  const text: AnthropicBlock = { type: 'text', text: 'I read them.' };
  const calls = ['a.txt', 'b.txt'].map((path, index): AnthropicBlock => {
    const input = { target_file: path };
    return { type: 'tool_use', id: `toolu_${index}`, name: 'read_file', input };
  });
  const usage = { input_tokens: 3, cache_read_input_tokens: 90, cache_creation_input_tokens: 7 };
  const model = await startScriptedModel((_, number) => ({
    frames:
      number === 0
        ? anthropicFrames([thinking, text, ...calls], 'tool_use')
        : anthropicFrames([{ type: 'text', text: DONE }], 'end_turn', usage),
  }));
  await using house = await startHouse(
    withModel(model.baseUrl, {
      dialect: 'anthropic',
      keyName: 'CLAUDE_KEY',
      switches: { thinking: 'adaptive' },
      prices: { input: 10, cachedInput: 1, cacheWrite: 20, output: 0 },
    }),
  );
  const response = await house.client.chat({ ...ASKED, include: ['reasoning'] });
  expect(response.documents.map(({ type }) => type)).toEqual([
    ...['reasoning', 'text', 'tool_call', 'tool_call', 'text'],
  ]);
  expect(response.documents[0]?.content).toBe('Two files.');
  expect(response.documents.at(-1)?.content).toBe(DONE);
  expect(response.usage).toEqual({
    promptTokens: 111,
    completionTokens: 14,
    totalTokens: 125,
    cachedPromptTokens: 90,
    cacheWriteTokens: 7,
    cost: { amount: (11 * 10 + 3 * 10 + 90 * 1 + 7 * 20) / 1e6, currency: 'USD' },
  });
  const [first, second] = model.requests.map(bodyOf);
  expect(first).toMatchObject({ model: 'm-1', max_tokens: 32_000, thinking: { type: 'adaptive' } });
  expect(first?.tools.at(-1)).toMatchObject({ input_schema: expect.anything(), ...MARK });
  expect(first?.system).toEqual([{ type: 'text', text: expect.stringContaining('You'), ...MARK }]);
  expect(second?.messages?.slice(-2)).toEqual([
    { role: 'assistant', content: [thinking, text, ...calls] },
    {
      role: 'user',
      content: [
        { ...resultOf('toolu_0', 'hello a') },
        { ...resultOf('toolu_1', 'hello b'), ...MARK },
      ],
    },
  ]);
  expect(JSON.stringify(second).split('cache_control')).toHaveLength(1 + 4);
  expect(unmarked(second?.messages)).toContain(unmarked(first?.messages).slice(0, -1));
  await model.close();

  function resultOf(id: string, data: string): object {
    const content = [{ type: 'text', text: expect.stringContaining(data) }];
    return { type: 'tool_result', tool_use_id: id, content };
  }
});

it('a tool loop with thoughts and two calls at once, with OpenAI’s Responses', async () => {
  const thought: ResponseItem = {
    type: 'reasoning',
    id: 'rs_1',
    encrypted_content: 'gAAA',
    summary: [{ type: 'summary_text', text: 'Two files.' }],
  };
  const calls = ['a.txt', 'b.txt'].map((path, index): ResponseItem => {
    const args = JSON.stringify({ target_file: path });
    return { type: 'function_call', call_id: `call_${index}`, name: 'read_file', arguments: args };
  });
  const model = await startScriptedModel((_, number) => ({
    frames:
      number === 0
        ? responseFrames([thought, { type: 'message', text: 'I read them.' }, ...calls])
        : responseFrames([{ type: 'message', text: DONE }]),
  }));
  await using house = await startHouse(
    withModel(model.baseUrl, { dialect: 'responses', switches: { effort: 'low' } }),
  );
  const response = await house.client.chat({ ...ASKED, include: ['reasoning'] });
  expect(response.documents.map(({ type }) => type)).toEqual([
    ...['reasoning', 'text', 'tool_call', 'tool_call', 'text'],
  ]);
  expect(response.documents.at(-1)?.content).toBe(DONE);
  expect(response.usage).toEqual({
    promptTokens: 22,
    completionTokens: 14,
    totalTokens: 36,
    cachedPromptTokens: 8,
    reasoningTokens: 4,
  });
  const [first, second] = model.requests.map(bodyOf);
  expect(first).toMatchObject({
    model: 'm-1',
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'low', summary: 'auto' },
    instructions: expect.any(String),
  });
  expect(second?.input).toEqual([
    ...(first?.input ?? []),
    thought,
    { role: 'assistant', content: 'I read them.' },
    ...calls,
    { type: 'function_call_output', call_id: 'call_0', output: expect.stringContaining('hello a') },
    { type: 'function_call_output', call_id: 'call_1', output: expect.stringContaining('hello b') },
  ]);
  await model.close();
});

/** A house whose only model is on this server. */
function withModel(baseUrl: string, entry: object) {
  const table = [{ id: 'm', baseUrl, upstreamId: 'm-1', ...entry }];
  return {
    variables: { MODELS: JSON.stringify(table), CLAUDE_KEY: 'k' },
    prepare(workspace: string) {
      for (const name of ['a', 'b'])
        writeFileSync(join(workspace, `${name}.txt`), `hello ${name}\n`);
    },
  };
}

interface Body {
  readonly tools: readonly object[];
  readonly system?: unknown;
  readonly messages?: readonly object[];
  readonly input?: readonly object[];
}

/** The script's type is that of Chat Completions, which these servers do not speak. */
function bodyOf(request: object): Body {
  return request as Body;
}

function unmarked(messages: unknown): string {
  return JSON.stringify(messages).replaceAll(`,${JSON.stringify(MARK).slice(1, -1)}`, '');
}
