import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse } from '../flow/house.ts';
import { type ForeignPackages, installPackages } from './foreign-packages.ts';

const PACKAGES = ['@openai/agents@0.20.0', '@ai-sdk/openai@3.0.141', 'ai@6.0.326', 'zod@4.4.3'];

/** What SDKs that use `/v1/responses` by default get with these defaults. */
describe('/v1/responses', () => {
  let packages: ForeignPackages;
  let model: ScriptedModel;
  let house: House;
  let openai: OpenAI;
  // biome-ignore lint/suspicious/noExplicitAny: the types of packages that are installed by the test.
  let load: (name: string) => Promise<any>;

  beforeAll(async () => {
    packages = await installPackages(PACKAGES);
    model = await startScriptedModel(({ messages }) => {
      const result = messages.findLast(({ role }) => role === 'tool');
      if (result) return { text: `It is ${result.content}.`, chunkChars: 3 };
      if (JSON.stringify(messages.at(-1)).includes('weather, please')) {
        return { calls: [{ name: 'get_weather', arguments: { place: 'Rome' } }] };
      }
      const said = messages.filter(({ role }) => role === 'user').length;
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

  it('the AI SDK answers, streams, and goes on with references to items', async () => {
    const { createOpenAI } = await load('@ai-sdk/openai');
    const { generateText, streamText } = await load('ai');
    const provider = createOpenAI({ baseURL: openai.baseURL, apiKey: openai.apiKey });
    const answering = { model: provider('scripted') };
    const first = [{ role: 'user', content: 'one' }];
    const streamed = streamText({ ...answering, messages: first });
    expect(await streamed.text).toBe('Answer 1.');
    const { messages } = await streamed.response;
    const second = [...first, ...messages, { role: 'user', content: 'two' }];
    const { text, request } = await generateText({ ...answering, messages: second });
    expect(text).toBe('Answer 2.');
    expect(JSON.stringify(request.body)).toContain('item_reference');
  });

  it('the tools of an app run in the AI SDK, over both APIs, and in the Agents SDK', async () => {
    const { createOpenAI } = await load('@ai-sdk/openai');
    const { generateText, streamText, tool, stepCountIs } = await load('ai');
    const { Agent, run, tool: agentTool, setDefaultOpenAIClient } = await load('@openai/agents');
    const { z } = await load('zod');
    const provider = createOpenAI({ baseURL: openai.baseURL, apiKey: openai.apiKey });
    const told: string[] = [];
    const weather = {
      description: 'The weather of a place.',
      execute: ({ place }: { readonly place: string }) => {
        told.push(place);
        return `sun in ${place}`;
      },
    };
    const place = z.object({ place: z.string() });
    const tools = { get_weather: tool({ ...weather, inputSchema: place }) };
    const prompt = 'weather, please';
    for (const model of [provider('scripted'), provider.chat('scripted')]) {
      const asked = { model, tools, prompt, stopWhen: stepCountIs(4) };
      expect((await generateText(asked)).text).toBe('It is sun in Rome.');
      expect(await streamText(asked).text).toBe('It is sun in Rome.');
    }
    setDefaultOpenAIClient(openai);
    const given = agentTool({ ...weather, name: 'get_weather', parameters: place });
    const agent = new Agent({ name: 'A', model: 'scripted', tools: [given] });
    expect((await run(agent, prompt)).finalOutput).toBe('It is sun in Rome.');
    const streaming = await run(agent, prompt, { stream: true });
    await streaming.completed;
    expect(streaming.finalOutput).toBe('It is sun in Rome.');
    expect(told).toEqual(Array(6).fill('Rome'));
  });

  it('the Agents SDK runs an agent, with its history and as a stream', async () => {
    const { Agent, run, setDefaultOpenAIClient, setTracingDisabled } = await load('@openai/agents');
    setDefaultOpenAIClient(openai);
    setTracingDisabled(true);
    const agent = new Agent({ name: 'A', instructions: 'Be brief.', model: 'scripted' });
    const first = await run(agent, 'one');
    expect(first.finalOutput).toBe('Answer 1.');
    const { finalOutput } = await run(agent, [...first.history, { role: 'user', content: 'two' }]);
    expect(finalOutput).toBe('Answer 2.');
    const streaming = await run(agent, 'one', { stream: true });
    await streaming.completed;
    expect(streaming.finalOutput).toBe('Answer 1.');
  });
});
