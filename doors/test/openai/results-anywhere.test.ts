/** Results of the app's tools, wherever a client puts them. */
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { expect, it } from 'vitest';
import type { ScriptedRequest } from '../../../test/far-ends/reply-script.ts';
import { scriptModel } from '../../../test/worker/api.ts';
import { callV1, complete, completed, openAiError } from './completing.ts';

const named = (name: string) => ({ type: 'function', function: { name } });
const TOOLS = [named('look'), named('hear')];
const USER = { role: 'user', content: 'go' };
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A model that calls both tools, and then says how many messages of each role came behind its calls. */
function scriptBoth(): ScriptedRequest[] {
  return scriptModel(({ messages }) => {
    const called = messages.findLastIndex((message) => message.tool_calls);
    if (called < 0) {
      return messages.some(({ content }) => String(content).includes('over again'))
        ? { text: 'Anew.' }
        : { calls: TOOLS.map(({ function: { name } }) => ({ name, arguments: {} })) };
    }
    return {
      text: messages
        .slice(called + 1)
        .map(({ role }) => role)
        .join(' '),
    };
  });
}

async function called() {
  const requests = scriptBoth();
  const first = await completed({ messages: [USER], tools: TOOLS });
  const message = first.choices[0]?.message;
  const [one, two] = message?.tool_calls ?? [];
  const result = (call: { id: string } | undefined, content: unknown) => ({
    role: 'tool',
    tool_call_id: call?.id,
    content,
  });
  const go = (...behind: object[]) => ({ messages: [USER, message, ...behind], tools: TOOLS });
  const results = [result(one, 'seen'), result(two, 'heard')];
  return { requests, one, two, result, results, go };
}

const textOf = ({ choices }: ChatCompletion) => choices[0]?.message.content;

it('count with a message of the user behind them, which the model gets after them', async () => {
  const { requests, results, go } = await called();
  const answer = await completed(go(...results, { role: 'user', content: 'and quickly' }));
  expect(textOf(answer)).toBe('tool tool user');
  expect(String(requests.at(-1)?.messages.at(-1)?.content)).toContain('and quickly');
});

it('count with reminders between them and a line of the system behind them', async () => {
  const { requests, results, go } = await called();
  const [first, second] = results;
  const reminder = { role: 'user', content: '<system-reminder>Be brief.</system-reminder>' };
  const line = { role: 'system', content: 'It is noon.' };
  const answer = await completed(go(first ?? {}, reminder, second ?? {}, line));
  expect(textOf(answer)).toBe('tool tool user');
  const said = String(requests.at(-1)?.messages.at(-1)?.content);
  expect(said).toContain('Be brief.');
  expect(said).toContain('It is noon.');
});

it('count for a part of the calls where something is said behind them, and else are missed', async () => {
  const { requests, results, go } = await called();
  const part = results.slice(0, 1);
  expect(await openAiError(await complete(go(...part)))).toMatchObject({ status: 400 });
  const answer = await completed(go(...part, { role: 'user', content: 'never mind' }));
  expect(textOf(answer)).toBe('tool tool user');
  const [seen, passed] = requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
  expect(seen?.content).toBe('seen');
  expect(passed?.content).not.toBe('');
});

it('count once where a client sends them again', async () => {
  const { requests, results, go } = await called();
  const body = go(...results, { role: 'user', content: 'and quickly' });
  const [first, second] = await Promise.all([completed(body), completed(body)]);
  expect([textOf(first), textOf(second)]).toEqual(['tool tool user', 'tool tool user']);
  expect(requests).toHaveLength(2);
});

it('of a run that is over are history where something new is said, and else refused', async () => {
  const { results, go } = await called();
  await completed(go(...results));
  const others = results.map((result) => ({ ...result, content: 'otherwise' }));
  expect(await openAiError(await complete(go(...others)))).toMatchObject({ status: 409 });
  const anew = { role: 'user', content: 'over again' };
  expect(textOf(await completed(go(...others, anew)))).toBe('Anew.');
  const answered = { role: 'assistant', content: 'tool tool' };
  expect(textOf(await completed(go(...results, answered, anew)))).toBe('Anew.');
});

it('reach the model with their images', async () => {
  const { requests, one, two, result, go } = await called();
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
  const shown = result(one, [{ type: 'text', text: 'a picture' }, image]);
  await completed(go(shown, result(two, 'heard')));
  const { messages = [] } = requests.at(-1) ?? {};
  expect(messages.find(({ role }) => role === 'tool')?.content).toBe('a picture');
  expect(JSON.stringify(messages.at(-1))).toContain(PNG);
});

it('stand anywhere behind the calls in Responses too, with their images', async () => {
  const requests = scriptBoth();
  const tools = TOOLS.map(({ function: { name } }) => ({ type: 'function', name }));
  const respond = async (input: unknown): Promise<OpenAiResponse> => {
    const body = JSON.stringify({ model: 'gpt-x', input, tools });
    const response = await callV1('responses', {}, body);
    expect(response.status, await response.clone().text()).toBe(200);
    return await response.json();
  };
  const first = await respond('go');
  const calls = first.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  const image = { type: 'input_image', image_url: `data:image/png;base64,${PNG}` };
  const outputs = calls.map(({ call_id }) => ({
    type: 'function_call_output',
    call_id,
    output: [image],
  }));
  const reminder = { type: 'message', role: 'developer', content: 'Be brief.' };
  const last = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] };
  const second = await respond([USER, ...calls, outputs[0], reminder, outputs[1], last]);
  expect(JSON.stringify(second.output)).toContain('tool tool user');
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain(PNG);
});
