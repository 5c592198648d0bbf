/** Functions with names of the agent's own tools, tools of text, namespaces, and tools of a server that the agent has not. */
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { OFFER_LIMITS } from '../../../shared/limits.ts';
import { BUILT_IN } from '../../../shared/tools/toolbox.ts';
import { call, scriptModel } from '../../../test/worker/api.ts';
import { newAccount } from '../../../test/worker/conversation/conversing.ts';
import { connectBridge } from '../../../test/worker/tunnel/scripted-bridge.ts';
import { callV1, complete, completed } from './completing.ts';

const parameters = { type: 'object', properties: { content: { type: 'string' } } };
const functionTool = (name: string) => ({ type: 'function', function: { name, parameters } });
const USER = { role: 'user', content: 'go' };

/** A model that calls the tool once, and then says what came. */
function scriptCall(name: string, args: Readonly<Record<string, unknown>>) {
  return scriptModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return { text: `Got ${String(last.content)}.` };
    return { calls: [{ name, arguments: args }] };
  });
}

async function responded(body: object): Promise<OpenAiResponse> {
  const response = await callV1('responses', {}, JSON.stringify({ model: 'gpt-x', ...body }));
  expect(response.status).toBe(200);
  return await response.json();
}

describe('a function of the app', () => {
  it.each([
    ...BUILT_IN.tools.map(({ name }) => name),
    ...['bash', 'read', 'Write', 'TodoWrite', 'mcp_a_b', 'update_plan', 'functions'],
  ])('may be called %s, and its calls are the app’s', async (name) => {
    await connectBridge();
    const requests = scriptCall(name, { content: 'x' });
    const tools = [functionTool(name)];
    const first = await completed({ messages: [USER], tools });
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    const made = first.choices[0]?.message.tool_calls ?? [];
    expect(made).toMatchObject([{ function: { name, arguments: '{"content":"x"}' } }]);
    const offered = requests[0]?.tools?.filter((tool) => tool.function.name === name);
    expect(offered).toMatchObject([functionTool(name)]);
    const message = first.choices[0]?.message;
    const result = { role: 'tool', tool_call_id: made[0]?.id, content: 'it' };
    const second = await completed({ messages: [USER, message, result], tools });
    expect(second.choices[0]?.message.content).toBe('Got it.');
  });

  it('is shown as the app’s, now and in a later answer, and none of ours is taken for it', async () => {
    scriptCall('todo_write', { todos: [{ id: 'a', content: 'x', status: 'pending' }] });
    const response = await complete({
      messages: [USER],
      tools: [functionTool('todo_write')],
      store: true,
    });
    const first: ChatCompletion = await response.json();
    const id = response.headers.get('drawbridge-response-id') ?? '';
    const read = async () => (await call(`chat/completions/${id}`)).json<object>();
    const shown = { type: 'tool_call', metadata: { toolName: 'todo_write', isOfApp: true } };
    expect(await read()).toMatchObject({
      documents: [shown],
      metadata: { unavailableTools: [{ name: 'todo_write', code: 'DISPLACED' }] },
    });
    const message = first.choices[0]?.message;
    const result = { role: 'tool', tool_call_id: message?.tool_calls?.[0]?.id, content: 'it' };
    await completed({ messages: [USER, message, result] });
    const conversationId = response.headers.get('drawbridge-conversation-id') ?? '';
    const requests = scriptModel(() => ({ text: 'Seen.' }));
    const body = { conversationId, messages: [{ role: 'user', content: 'and now?' }] };
    expect(await (await call('chat/completions', { body })).json()).toMatchObject({
      status: 'completed',
    });
    expect(requests[0]?.tools?.filter((tool) => tool.function.name === 'todo_write')).toHaveLength(
      1,
    );
    expect(await read()).toMatchObject({ documents: [shown, { type: 'text' }] });
  });

  it('goes before the agent’s own where all together are too many', async () => {
    const requests = scriptModel(() => ({ text: 'x' }));
    const tools = Array.from({ length: OFFER_LIMITS.maxTools - 2 }, (_, at) =>
      functionTool(`f${at}`),
    );
    await completed({ messages: [USER], tools });
    const names = requests[0]?.tools?.map((tool) => tool.function.name) ?? [];
    expect(names.length).toBeLessThanOrEqual(OFFER_LIMITS.maxTools);
    expect(names.filter((name) => /^f\d+$/.test(name))).toHaveLength(tools.length);
  });
});

describe('a tool that takes text', () => {
  const input = '*** Begin Patch\n*** End Patch';

  it('is called with text in Chat Completions', async () => {
    scriptCall('apply_patch', { input });
    const tools = [{ type: 'custom', custom: { name: 'apply_patch', format: { type: 'text' } } }];
    const { choices } = await completed({ messages: [USER], tools });
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { type: 'custom', custom: { name: 'apply_patch', input } },
    ]);
  });

  it('is called with text in Responses, and gives its result there', async () => {
    scriptCall('apply_patch', { input });
    const tools = [{ type: 'custom', name: 'apply_patch', description: 'Patches.' }];
    const first = await responded({ input: 'go', tools });
    const [made] = first.output;
    expect(made).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input });
    const callId = made?.type === 'custom_tool_call' ? made.call_id : '';
    const result = { type: 'custom_tool_call_output', call_id: callId, output: 'Done!' };
    const second = await responded({ input: [USER, made, result], tools });
    expect(second.output_text ?? JSON.stringify(second.output)).toContain('Got Done!.');
  });

  it('stands in a stream with the events of its kind', async () => {
    scriptCall('apply_patch', { input });
    const tools = [{ type: 'custom', name: 'apply_patch' }];
    const body = { model: 'gpt-x', input: 'go', tools, stream: true };
    const text = await (await callV1('responses', {}, JSON.stringify(body))).text();
    expect(text).toContain('event: response.custom_tool_call_input.delta');
    expect(text).toContain('event: response.custom_tool_call_input.done');
  });
});

it('functions of a namespace are called by it', async () => {
  const requests = scriptCall('crm__find', { content: 'x' });
  const inner = { type: 'function', name: 'find', parameters };
  const tools = [{ type: 'namespace', name: 'crm', description: 'Customers.', tools: [inner] }];
  const { output } = await responded({ input: 'go', tools });
  expect(requests[0]?.tools?.at(-1)?.function.name).toBe('crm__find');
  expect(output).toMatchObject([{ type: 'function_call', namespace: 'crm', name: 'find' }]);
});

it.each([
  ['without a bridge', undefined, 'tools.web_search, tools.local_shell, '],
  ['where a bridge runs commands', ['run_terminal_cmd'], 'tools.web_search, '],
  ['where it also searches', ['run_terminal_cmd', 'web_search'], ''],
])('tools of a server that the run has not are named: %s', async (_, has, missing) => {
  scriptModel(() => ({ text: 'x' }));
  const account = newAccount();
  if (has) await connectBridge({ account, tools: has });
  const types = ['web_search', 'local_shell', 'code_interpreter', 'mcp', 'of_the_future'];
  const tools = types.map((type) => ({ type }));
  for (const body of [{ input: 'go' }, { input: 'go', stream: true }]) {
    const response = await callV1('responses', { account }, JSON.stringify({ ...body, tools }));
    expect(response.status).toBe(200);
    expect(response.headers.get('drawbridge-ignored-fields')).toBe(
      `${missing}tools.code_interpreter, tools.mcp, tools.of_the_future`,
    );
    await response.text();
  }
});

it('a run begins with the function that the request demands, and then chooses itself', async () => {
  const requests = scriptCall('pay', { content: 'x' });
  const tools = [functionTool('pay')];
  const demand = { type: 'function', function: { name: 'pay' } };
  const first = await completed({ messages: [USER], tools, tool_choice: demand });
  const message = first.choices[0]?.message;
  const result = { role: 'tool', tool_call_id: message?.tool_calls?.[0]?.id, content: 'it' };
  await completed({ messages: [USER, message, result], tools });
  const asked = requests.map((request) => Reflect.get(request, 'tool_choice'));
  expect(asked).toEqual([demand, 'auto']);
  await completed({ messages: [USER], tools, tool_choice: 'required' });
  expect(requests.at(-1)).toMatchObject({ tool_choice: 'required' });
  const unknown = { type: 'function', function: { name: 'other' } };
  expect((await complete({ tools, tool_choice: unknown })).status).toBe(400);
});
