import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { compressionGzip, createConnectTransport } from '@connectrpc/connect-node';
import { describe, expect, it } from 'vitest';
import {
  AiService,
  file_aiserver,
  ConversationMessage_MessageType as Type,
} from '../far-ends/aiserver_pb.js';
import { until } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse();

interface Form {
  readonly useBinaryFormat: boolean;
  readonly sendCompression?: boolean;
}

function clientOf({ useBinaryFormat, sendCompression = false }: Form, token: string) {
  const transport = createConnectTransport({
    baseUrl: at.house.ready.url,
    httpVersion: '1.1',
    useBinaryFormat,
    ...(sendCompression && { sendCompression: compressionGzip, compressMinBytes: 0 }),
    interceptors: [
      (next) => async (request) => {
        request.header.set('authorization', `bearer ${token}`);
        request.header.set('x-cursor-client-version', '0.43.5');
        return await next(request);
      },
    ],
  });
  return createClient(AiService, transport);
}

const FORMS: readonly [string, Form][] = [
  ['in binary', { useBinaryFormat: true }],
  ['in JSON', { useBinaryFormat: false }],
  ['in compressed binary', { useBinaryFormat: true, sendCompression: true }],
];

describe.each(FORMS)('a client of Connect %s', (_, form) => {
  it('gets an answer for which tools were run on the machine', async () => {
    const read = { name: 'read_file', arguments: { target_file: 'greeting.txt' } };
    at.answerWith([{ text: 'I look.', calls: [read] }, { text: 'It says “grüße”.' }]);
    const client = clientOf(form, at.house.ready.token);
    const stream = client.streamChat({
      conversation: [
        { text: 'Hello', type: Type.HUMAN },
        { text: 'Hello.', type: Type.AI },
        { text: 'What does greeting.txt say?', type: Type.HUMAN },
      ],
      modelDetails: { modelName: 'scripted' },
      workspaceRootPath: at.house.workspace,
      requestId: crypto.randomUUID(),
    });
    let text = '';
    for await (const piece of stream) text += piece.text;
    expect(text).toBe('I look.\n\nIt says “grüße”.');
    expect(JSON.stringify(at.model.requests.at(-1)?.messages)).toContain('greeting.txt');
  });

  it('sees the models', async () => {
    const client = clientOf(form, at.house.ready.token);
    const { modelNames, models } = await client.availableModels({});
    expect(modelNames).toEqual(models.map(({ name }) => name));
    expect(modelNames.length).toBeGreaterThan(0);
  });

  it('gets the code of an error, of both kinds of calls', async () => {
    const stranger = clientOf(form, 'nonsense');
    await expect(codeOf(stranger.availableModels({}))).resolves.toBe(Code.Unauthenticated);
    await expect(codeOf(collect(stranger.streamChat({})))).resolves.toBe(Code.Unauthenticated);
    const client = clientOf(form, at.house.ready.token);
    await expect(codeOf(collect(client.streamChat({})))).resolves.toBe(Code.InvalidArgument);
  });
});

/** An answer that takes ten seconds. */
const LONG = { text: 'word '.repeat(800), delayMs: 20 };

describe('the run of a client of Connect', () => {
  it('ends when the client leaves', async () => {
    at.answerWith([LONG]);
    const client = clientOf({ useBinaryFormat: true }, at.house.ready.token);
    const before = at.model.aborted();
    const leaving = new AbortController();
    const conversation = [{ text: 'Go', type: Type.HUMAN }];
    const stream = client.streamChat({ conversation }, { signal: leaving.signal });
    const reading = collect(stream, () => leaving.abort());
    await expect(codeOf(reading)).resolves.toBe(Code.Canceled);
    await until(() => at.model.aborted() > before);
  });

  it('gets no more time than the client gives', async () => {
    at.answerWith([LONG]);
    const client = clientOf({ useBinaryFormat: true }, at.house.ready.token);
    const before = at.model.aborted();
    const conversation = [{ text: 'Go', type: Type.HUMAN }];
    const reading = collect(client.streamChat({ conversation }, { timeoutMs: 1_500 }));
    await expect(codeOf(reading)).resolves.toBe(Code.DeadlineExceeded);
    await until(() => at.model.aborted() > before);
  });
});

it('is generated from the .proto file that the Worker is written after', () => {
  const text = readFileSync(
    join(import.meta.dirname, '../../doors/cursor/connect/aiserver.proto'),
    'utf8',
  );
  const declared = [...text.matchAll(/^\s+(?:optional |repeated )?\w+ (\w+) = (\d+);$/gm)];
  const { messages } = file_aiserver;
  const generated = [...messages, ...messages.flatMap(({ nestedMessages }) => nestedMessages)];
  expect(declared.map(([, name, number]) => `${name} ${number}`).sort()).toEqual(
    generated.flatMap(({ fields }) => fields.map(({ name, number }) => `${name} ${number}`)).sort(),
  );
});

async function collect(
  stream: AsyncIterable<{ readonly text: string }>,
  onText?: () => void,
): Promise<string> {
  let text = '';
  for await (const piece of stream) {
    text += piece.text;
    if (text !== '') onText?.();
  }
  return text;
}

async function codeOf(call: Promise<unknown>): Promise<Code | null> {
  return await call.then(
    () => null,
    (error: unknown) => ConnectError.from(error).code,
  );
}
