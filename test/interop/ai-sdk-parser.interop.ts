/** What is sent to the AI SDK, read by its own parser and schemas. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  jsonSchema,
  parseJsonEventStream,
  readUIMessageStream,
  streamText,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai';
import { describe, expect, it } from 'vitest';
import { framesOf } from '../far-ends/reply-script.ts';
import { oneHouse } from '../flow/one-house.ts';
import { versionHere } from './foreign-packages.ts';
import { row } from './table.ts';

const at = oneHouse();

const delta = { reasoning_content: 'Let me think.' };
const THOUGHT = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
const thinking = (text: string) => ({ frames: [THOUGHT, ...framesOf({ text, chunkChars: 3 })] });

describe('the AI SDK’s own parser', () => {
  const ui = row({ suite: 'AI SDK, parser of UI messages', version: versionHere('ai') });

  describe('of UI messages', ui, () => {
    /** The chunks of an answer, each of which the schema takes, and the message that they make. */
    async function answered(text: string) {
      const message = { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
      const response = await at.house.fetch('/api/v1/ui/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: crypto.randomUUID(),
          messages: [message],
          trigger: 'submit-message',
        }),
      });
      if (!response.body) throw new Error('there is no stream');
      const stream = parseJsonEventStream({ stream: response.body, schema: uiMessageChunkSchema });
      const chunks: UIMessageChunk[] = [];
      for await (const parsed of stream) {
        if (!parsed.success) throw parsed.error;
        chunks.push(parsed.value);
      }
      const errors: unknown[] = [];
      const states = readUIMessageStream({
        stream: ReadableStream.from(structuredClone(chunks)),
        onError: (error) => errors.push(error),
      });
      let parts: readonly object[] = [];
      for await (const state of states) ({ parts } = state);
      return { chunks, parts, errors };
    }

    it('text and reasoning', async () => {
      at.answerWith(() => thinking('Hello there.'));
      const { parts, errors } = await answered('hello');
      expect(errors).toEqual([]);
      expect(parts).toMatchObject([
        { type: 'step-start' },
        { type: 'reasoning', text: 'Let me think.', state: 'done' },
        { type: 'text', text: 'Hello there.', state: 'done' },
      ]);
    });

    it('a tool of the machine', async () => {
      const calls = [{ name: 'run_terminal_cmd', arguments: { command: 'echo from-there' } }];
      at.answerWith([{ calls }, { text: 'Done.' }]);
      const { parts, errors } = await answered('run it');
      expect(errors).toEqual([]);
      expect(parts).toContainEqual(
        expect.objectContaining({
          type: 'dynamic-tool',
          toolName: 'run_terminal_cmd',
          state: 'output-available',
        }),
      );
    });

    it('a run that fails', async () => {
      at.answerWith(() => ({ status: 404, body: '{"error":{"message":"No such model"}}' }));
      const { chunks, errors } = await answered('fail');
      expect(chunks).toContainEqual(expect.objectContaining({ type: 'error' }));
      expect(errors).toHaveLength(1);
    });
  });

  const compatible = row({
    suite: 'AI SDK, parser of Chat Completions (openai-compatible)',
    version: versionHere('@ai-sdk/openai-compatible'),
  });

  describe('of Chat Completions', compatible, () => {
    const ask = () => {
      const { url, token } = at.house.ready;
      const named = { name: 'drawbridge', baseURL: `${url}/v1`, apiKey: token };
      return createOpenAICompatible({ ...named, includeUsage: true })('scripted');
    };

    it('text, reasoning and usage', async () => {
      at.answerWith(() => thinking('Hello there.'));
      const streamed = streamText({ model: ask(), prompt: 'hello', maxRetries: 0 });
      expect(await streamed.text).toBe('Hello there.');
      expect(await streamed.reasoningText).toBe('Let me think.');
      expect(await streamed.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    });

    it('a tool of the app', async () => {
      at.answerWith([{ calls: [{ name: 'weather', arguments: { place: 'Rome' } }] }]);
      const inputSchema = jsonSchema<{ readonly place: string }>({
        type: 'object',
        properties: { place: { type: 'string' } },
      });
      const tools = { weather: { description: 'The weather.', inputSchema } };
      const streamed = streamText({ model: ask(), prompt: 'weather', tools, maxRetries: 0 });
      expect(await streamed.toolCalls).toMatchObject([
        { toolName: 'weather', input: { place: 'Rome' } },
      ]);
      expect(await streamed.finishReason).toBe('tool-calls');
    });
  });
});
