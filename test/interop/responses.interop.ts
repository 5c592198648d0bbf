import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse } from '../flow/house.ts';
import {
  type ForeignPackages,
  installPackages,
  NO_REGISTRY,
  versionHere,
} from './foreign-packages.ts';
import { row } from './table.ts';

const AGENTS = '0.20.0';
const AI_SDK = '3.0.141';
const PACKAGES = [
  `@openai/agents@${AGENTS}`,
  `@ai-sdk/openai@${AI_SDK}`,
  'ai@6.0.326',
  'zod@4.4.3',
];

/** What SDKs get that are given an address and a key, and nothing else. */
describe('with the defaults of', { skip: NO_REGISTRY !== undefined }, () => {
  let packages: ForeignPackages;
  let model: ScriptedModel;
  let house: House;
  let openai: OpenAI;
  // biome-ignore lint/suspicious/noExplicitAny: the types of packages that are installed by the test.
  let load: (name: string) => Promise<any>;

  beforeAll(async () => {
    packages = await installPackages(PACKAGES);
    model = await startScriptedModel(({ messages, tools = [] }) => {
      const said = messages.filter(({ role }) => role === 'user').length;
      const asked = JSON.stringify(messages.findLast(({ role }) => role === 'user'));
      const result = messages.findLast(({ role }) => role === 'tool');
      if (asked.includes('as JSON')) return { text: '{"place":"Rome"}' };
      if (result) return { text: `It is ${textOf(result.content)}.`, chunkChars: 3 };
      const [, wanted = ''] = /please use (\w+)/.exec(asked) ?? [];
      const isOffered = tools.some((tool) => tool.function.name === wanted);
      if (isOffered) return { calls: [{ name: wanted, arguments: { place: 'Rome' } }] };
      return { text: `Answer ${said}.`, chunkChars: 3 };
    });
    house = await startHouse({ modelUrl: model.baseUrl });
    openai = new OpenAI({ baseURL: `${house.ready.url}/v1`, apiKey: house.ready.token });
    const { resolve } = createRequire(join(packages.folder, 'index.js'));
    load = async (name) => await import(pathToFileURL(resolve(name)).href);
  });
  afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
    await model?.close();
    await packages?.[Symbol.asyncDispose]();
  });

  const prompt = 'please use get_weather';

  describe(
    'openai',
    row({ suite: 'openai', version: versionHere('openai'), notRun: NO_REGISTRY }),
    () => {
      const weather = {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          description: 'The weather of a place.',
          parameters: { type: 'object', properties: { place: { type: 'string' } } },
          parse: JSON.parse,
          function: ({ place }: { readonly place: string }) => `sun in ${place}`,
        },
      };
      const asking = {
        model: 'scripted',
        messages: [{ role: 'user' as const, content: prompt }],
        tools: [weather],
      };

      it('chat.completions, whole and as a stream', async () => {
        const one = { model: 'scripted', messages: [{ role: 'user' as const, content: 'one' }] };
        const whole = await openai.chat.completions.create(one);
        expect(whole.choices[0]?.message.content).toBe('Answer 1.');
        expect(await openai.chat.completions.stream(one).finalContent()).toBe('Answer 1.');
      });

      it('chat.completions.runTools, whole and as a stream', async () => {
        const whole = openai.chat.completions.runTools(asking);
        expect(await whole.finalContent()).toBe('It is sun in Rome.');
        const streamed = openai.chat.completions.runTools({ ...asking, stream: true });
        expect(await streamed.finalContent()).toBe('It is sun in Rome.');
      });

      it('responses, which go on with previous_response_id', async () => {
        const first = await openai.responses.create({ model: 'scripted', input: 'one' });
        expect(first.output_text).toBe('Answer 1.');
        const goesOn = { model: 'scripted', input: 'two', previous_response_id: first.id };
        expect((await openai.responses.create(goesOn)).output_text).toBe('Answer 2.');
        const streamed = await openai.responses.stream(goesOn).finalResponse();
        expect(streamed.output_text).toBe('Answer 2.');
      });

      it('responses.parse and chat.completions.parse, by a schema', async () => {
        const schema = {
          type: 'object',
          properties: { place: { type: 'string' } },
          required: ['place'],
          additionalProperties: false,
        };
        const format = { type: 'json_schema' as const, name: 'place', schema, strict: true };
        const input = 'answer as JSON';
        const response = await openai.responses.parse({
          model: 'scripted',
          input,
          text: { format },
        });
        expect(JSON.parse(response.output_text)).toEqual({ place: 'Rome' });
        const completion = await openai.chat.completions.parse({
          model: 'scripted',
          messages: [{ role: 'user', content: input }],
          response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
        });
        expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ place: 'Rome' });
      });
    },
  );

  const aiSdk = row({ suite: 'AI SDK (@ai-sdk/openai)', version: AI_SDK, notRun: NO_REGISTRY });
  describe('the AI SDK', aiSdk, () => {
    async function provider() {
      const { createOpenAI } = await load('@ai-sdk/openai');
      return createOpenAI({ baseURL: openai.baseURL, apiKey: openai.apiKey });
    }

    it('answers, streams, and goes on with references to items', async () => {
      const { generateText, streamText } = await load('ai');
      const answering = { model: (await provider())('scripted') };
      const first = [{ role: 'user', content: 'one' }];
      const streamed = streamText({ ...answering, messages: first });
      expect(await streamed.text).toBe('Answer 1.');
      const { messages } = await streamed.response;
      const second = [...first, ...messages, { role: 'user', content: 'two' }];
      const { text, request } = await generateText({ ...answering, messages: second });
      expect(text).toBe('Answer 2.');
      expect(JSON.stringify(request.body)).toContain('item_reference');
    });

    it.each(['Responses', 'Chat Completions'])('the tools of an app, over %s', async (over) => {
      const { generateText, streamText, tool, stepCountIs } = await load('ai');
      const { z } = await load('zod');
      const told: string[] = [];
      const weather = tool({
        description: 'The weather of a place.',
        inputSchema: z.object({ place: z.string() }),
        execute: ({ place }: { readonly place: string }) => {
          told.push(place);
          return `sun in ${place}`;
        },
      });
      const openAi = await provider();
      const model = over === 'Responses' ? openAi('scripted') : openAi.chat('scripted');
      const asked = { model, tools: { get_weather: weather }, prompt, stopWhen: stepCountIs(4) };
      expect((await generateText(asked)).text).toBe('It is sun in Rome.');
      expect(await streamText(asked).text).toBe('It is sun in Rome.');
      expect(told).toEqual(['Rome', 'Rome']);
    });

    it('an object by a schema', async () => {
      const { generateText, Output } = await load('ai');
      const { z } = await load('zod');
      const output = Output.object({ schema: z.object({ place: z.string() }) });
      const model = (await provider())('scripted');
      const made = await generateText({ model, prompt: 'answer as JSON', output });
      expect(made.output).toEqual({ place: 'Rome' });
    });
  });

  const agents = row({ suite: '@openai/agents', version: AGENTS, notRun: NO_REGISTRY });
  describe.each(['responses', 'chat_completions'])('the Agents SDK, over %s', agents, (api) => {
    async function sdk() {
      const loaded = await load('@openai/agents');
      loaded.setDefaultOpenAIClient(openai);
      loaded.setTracingDisabled(true);
      loaded.setOpenAIAPI(api);
      return { ...loaded, ...(await load('zod')) };
    }

    it('runs an agent, with its history and as a stream', async () => {
      const { Agent, run } = await sdk();
      const agent = new Agent({ name: 'A', instructions: 'Be brief.', model: 'scripted' });
      const first = await run(agent, 'one');
      expect(first.finalOutput).toBe('Answer 1.');
      const history = [...first.history, { role: 'user', content: 'two' }];
      expect((await run(agent, history)).finalOutput).toBe('Answer 2.');
      const streaming = await run(agent, 'one', { stream: true });
      await streaming.completed;
      expect(streaming.finalOutput).toBe('Answer 1.');
    });

    it('runs the tools of an app, whole and as a stream', async () => {
      const { Agent, run, tool, z } = await sdk();
      const weather = tool({
        name: 'get_weather',
        description: 'The weather of a place.',
        parameters: z.object({ place: z.string() }),
        execute: ({ place }: { readonly place: string }) => `sun in ${place}`,
      });
      const agent = new Agent({ name: 'A', model: 'scripted', tools: [weather] });
      expect((await run(agent, prompt)).finalOutput).toBe('It is sun in Rome.');
      const streaming = await run(agent, prompt, { stream: true });
      await streaming.completed;
      expect(streaming.finalOutput).toBe('It is sun in Rome.');
    });

    it('hands over to another agent', async () => {
      const { Agent, run } = await sdk();
      const billing = new Agent({ name: 'Billing', instructions: 'Bill.', model: 'scripted' });
      const agent = new Agent({ name: 'A', model: 'scripted', handoffs: [billing] });
      const { lastAgent } = await run(agent, 'please use transfer_to_Billing');
      expect(lastAgent.name).toBe('Billing');
    });

    it('answers by a schema', async () => {
      const { Agent, run, z } = await sdk();
      const outputType = z.object({ place: z.string() });
      const agent = new Agent({ name: 'A', model: 'scripted', outputType });
      expect((await run(agent, 'answer as JSON')).finalOutput).toEqual({ place: 'Rome' });
    });
  });
});

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (Array.isArray(content) ? content : []).map((part) => Object(part).text ?? '').join('');
}
