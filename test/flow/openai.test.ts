import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, streamText } from 'ai';
import OpenAI, { APIError, AuthenticationError, BadRequestError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Asked } from '../../shared/wire/approvals.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { deviceOf } from './allowing.ts';
import { until } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({
  rules: [
    { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
    { tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' },
  ],
});
const { answerWith } = at;
let openai: OpenAI;

beforeAll(() => {
  const { url, token } = at.house.ready;
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
});

const messages = [{ role: 'user' as const, content: 'Greet the moon and run it' }];
// Four requests: the prompt is the newest one’s.
const USAGE = { prompt_tokens: 11, completion_tokens: 28, total_tokens: 39 };
const ANSWER = 'I look first.\n\nIt runs:\n\n```js\nconsole.log("Hello, moon");\n```';

describe('the openai package', () => {
  it('gets an answer for which tools were run on the machine', async () => {
    answerWith(moonTask);
    const completion = await openai.chat.completions.create({ model: 'scripted', messages });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: ANSWER },
    });
    expect(completion.usage).toEqual(USAGE);
    expectMoon();
  });

  it('gets it as a stream, usage included', async () => {
    answerWith(moonTask);
    const stream = openai.chat.completions.stream({
      model: 'scripted',
      messages,
      stream_options: { include_usage: true },
    });
    let content = '';
    for await (const chunk of stream) content += chunk.choices[0]?.delta.content ?? '';
    expect(content).toBe(ANSWER);
    const whole = await stream.finalChatCompletion();
    expect(whole).toMatchObject({ object: 'chat.completion', model: 'scripted', usage: USAGE });
    expect(whole.choices[0]?.message.content).toBe(ANSWER);
    expectMoon();
  });

  it('gets a response as a stream, and goes on after it, though the task ran on the machine', async () => {
    answerWith(moonTask);
    const stream = openai.responses.stream({ model: 'scripted', input: 'Greet the moon' });
    let text = '';
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).toBe(ANSWER);
    const first = await stream.finalResponse();
    expect(first).toMatchObject({ status: 'completed', output_text: ANSWER });
    expectMoon();
    answerWith((request) => ({
      text: `Heard ${JSON.stringify(request.messages).includes(text.slice(0, 9))}.`,
    }));
    const more = { previous_response_id: first.id, input: 'And?', model: 'scripted' };
    expect(await openai.responses.create(more)).toMatchObject({ output_text: 'Heard true.' });
  });

  it('carries a conversation by sending all of it each time', async () => {
    answerWith((request) => ({ text: `Heard ${request.messages.length - 1}.` }));
    const said: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'one' }];
    const first = await openai.chat.completions.create({ model: 'scripted', messages: said });
    said.push(first.choices[0]?.message ?? { role: 'assistant', content: '' });
    said.push({ role: 'user', content: 'two' });
    const second = await openai.chat.completions.create({ model: 'scripted', messages: said });
    expect(second.choices[0]?.message.content).toBe('Heard 3.');
  });

  it('lists the model, and finds it', async () => {
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
    expect(await openai.models.retrieve('scripted')).toMatchObject({ owned_by: 'drawbridge' });
  });

  it('runs the tools of its program beside those of the agent', async () => {
    answerWith(({ messages: said }) => {
      const result = said.findLast(({ role }) => role === 'tool');
      if (result) return { text: `It is ${result.content}.` };
      return { calls: [{ name: 'get_weather', arguments: { place: 'Rome' } }] };
    });
    const runner = openai.chat.completions.runTools({
      model: 'scripted',
      messages,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'The weather of a place.',
            parameters: { type: 'object', properties: { place: { type: 'string' } } },
            parse: JSON.parse,
            function: ({ place }: { readonly place: string }) => `sunny in ${place}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It is sunny in Rome.');
  });

  it('throws its own errors', async () => {
    const stranger = openai.withOptions({ apiKey: 'sk-unknown' });
    await expect(stranger.models.list()).rejects.toThrow(AuthenticationError);
    const refused = openai.chat.completions.create({ model: 'scripted', messages, n: 2 });
    await expect(refused).rejects.toThrow(BadRequestError);
    await expect(refused).rejects.toMatchObject({ param: 'n', type: 'invalid_request_error' });
  });

  it('throws what the model server reports, and does not ask again', async () => {
    const body = JSON.stringify({ error: { message: 'no such model: x' } });
    answerWith(() => ({ status: 404, body }));
    for (const stream of [false, true]) {
      const before = at.model.requests.length;
      const failed = openai.chat.completions.create({ model: 'x', messages, stream });
      await expect(failed).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
      expect(at.model.requests.length).toBe(before + 1);
    }
  });

  it('throws behind the first words when the answer breaks off', async () => {
    answerWith(() => ({ frames: [textFrame('Half')] }));
    const stream = await openai.chat.completions.create({
      model: 'scripted',
      messages,
      stream: true as const,
    });
    let content = '';
    const reading = async () => {
      for await (const { choices } of stream) content += choices[0]?.delta.content ?? '';
    };
    const failed = reading();
    await expect(failed).rejects.toThrow(APIError);
    await expect(failed).rejects.toMatchObject({ code: 'upstream_interrupted' });
    expect(content).toBe('Half');
  });

  it('ends the request to the model when it is left', async () => {
    answerWith(() => ({ text: 'and on '.repeat(1000), delayMs: 10 }));
    const aborted = at.model.aborted();
    const stream = await openai.chat.completions.create({
      model: 'scripted',
      messages,
      stream: true as const,
    });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await until(() => at.model.aborted() > aborted);
  });

  it('waits while a person is asked', async () => {
    answerWith((_, turn) =>
      turn === 0
        ? { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'touch asked.txt' } }] }
        : { text: 'Touched.' },
    );
    const { data, response } = await openai.chat.completions
      .create({ model: 'scripted', messages, stream: true })
      .withResponse();
    const conversationId = response.headers.get('drawbridge-conversation-id') ?? '';
    await approve(conversationId);
    let content = '';
    for await (const { choices } of data) content += choices[0]?.delta.content ?? '';
    expect(content).toBe('Touched.');
    expect(existsSync(join(at.house.workspace, 'asked.txt'))).toBe(true);
  });
});

describe("the AI SDK's provider for compatible servers", () => {
  const provider = () =>
    createOpenAICompatible({
      name: 'drawbridge',
      baseURL: `${at.house.ready.url}/v1`,
      apiKey: at.house.ready.token,
      includeUsage: true,
    });
  const prompt = 'Greet the moon and run it';

  it('generates a text for which tools were run', async () => {
    answerWith(moonTask);
    const { text, finishReason, usage } = await generateText({
      model: provider()('scripted'),
      prompt,
    });
    expect([text, finishReason]).toEqual([ANSWER, 'stop']);
    expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 28, totalTokens: 39 });
    expectMoon();
  });

  it('streams a text, and what was thought', async () => {
    answerWith(() => ({
      frames: [
        reasoningFrame('Hm, '),
        reasoningFrame('hm.'),
        textFrame('Yes'),
        textFrame('.'),
        STOP,
      ],
    }));
    const result = streamText({ model: provider()('scripted'), system: 'Be brief.', prompt });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe('Yes.');
    expect(await result.reasoningText).toBe('Hm, hm.');
    expect(await result.finishReason).toBe('stop');
  });

  it('throws what the model server reports', async () => {
    const body = JSON.stringify({ error: { message: 'no such model: x' } });
    answerWith(() => ({ status: 404, body }));
    const failed = generateText({ model: provider()('x'), prompt, maxRetries: 0 });
    await expect(failed).rejects.toThrow(APICallError);
    await expect(failed).rejects.toMatchObject({ statusCode: 502, message: 'no such model: x' });
  });
});

const PROGRAM = 'console.log("Hello, moon");\n';

/** Writes a program, runs it, and says so. */
function moonTask(_: ScriptedRequest, turn: number): ScriptedAnswer {
  const turns: ScriptedAnswer[] = [
    {
      text: 'I look first.',
      calls: [{ name: 'list_dir', arguments: { target_directory: '.' } }],
    },
    { calls: [{ name: 'write', arguments: { file_path: 'moon.mjs', contents: PROGRAM } }] },
    {
      calls: [{ name: 'run_terminal_cmd', arguments: { command: 'node moon.mjs > said.txt' } }],
    },
  ];
  return turns[turn] ?? { text: `It runs:\n\n\`\`\`js\n${PROGRAM}\`\`\`\n` };
}

/** The program is there and was run. The next test begins without both. */
function expectMoon(): void {
  const [program, said] = ['moon.mjs', 'said.txt'].map((name) => join(at.house.workspace, name));
  expect(readFileSync(program ?? '', 'utf8')).toBe(PROGRAM);
  expect(readFileSync(said ?? '', 'utf8')).toBe('Hello, moon\n');
  for (const path of [program, said]) rmSync(path ?? '');
}

/** As a device that is enrolled at the bridge, once it is asked. */
async function approve(conversationId: string): Promise<void> {
  await until(async () => {
    const { responses } = await at.house.client.getConversation(conversationId);
    const asked = responses[0]?.documents.find(({ metadata }) => metadata['approval'])?.metadata[
      'approval'
    ] as Asked | undefined;
    if (!asked) return false;
    const { client } = at.house;
    const allowed = client.allowCall({ ...asked, conversationId }, deviceOf(at.house));
    return await allowed.then(
      () => true,
      () => false,
    );
  });
}

function textFrame(content: string): string {
  return frame({ delta: { content }, finish_reason: null });
}

function reasoningFrame(reasoning: string): string {
  return frame({ delta: { reasoning_content: reasoning }, finish_reason: null });
}

function frame(choice: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
}

const STOP = `${frame({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;
