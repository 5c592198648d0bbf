import { SELF } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { JSON_LIMITS } from '../../shared/text/limits.ts';
import { fewOf } from '../depth.ts';
import { streamOf } from '../far-ends/reply-script.ts';
import { ask, call, chat, errorOf, scriptModel, tokenFor } from './api.ts';
import { askStreamed, readResponse } from './conversation/conversing.ts';
import { connectBridge } from './tunnel/scripted-bridge.ts';

const { maxDepth } = JSON_LIMITS;

/** A few more and far more than fits; 5,000 and 20,000 were seen to break conversations. */
const ALL_DEPTHS = [maxDepth + 1, 20_000, 1_001, 5_000];
const DEPTHS = ALL_DEPTHS.slice(0, fewOf(ALL_DEPTHS.length, 2));

const FORMS: Readonly<Record<string, (depth: number) => string>> = {
  arrays: (depth) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`,
  objects: (depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  'a string that is JSON': (depth) =>
    JSON.stringify(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`),
};

describe.each(Object.entries(FORMS))(
  'arguments of the model that nest too deeply, as %s,',
  (_, form) => {
    it.each(DEPTHS)('fail their call and nothing else: %i levels', async (depth) => {
      const { conversationId, exported } = await callWith('list_dir', piecesOf(form(depth)));
      expect(exported).toContain('nest too deeply');
      expect(exported.length).toBeLessThan(10_000);
      const next = await chat('again', { conversationId });
      expect(next).toMatchObject({ status: 'completed', documents: [{ content: 'Done.' }] });
    });
  },
);

describe('arguments that nest too deeply', () => {
  it.each(['write', 'run_terminal_cmd', 'todo_write', 'create_plan', 'ask_question'])(
    'fail a call of %s',
    async (tool) => {
      const { exported } = await callWith(tool, piecesOf(`{"a":${FORMS['objects']?.(20_000)}}`));
      expect(exported).toContain('nest too deeply');
    },
  );

  it('fail their call where a server sends them as an object', async () => {
    const args = FORMS['objects']?.(20_000);
    const delta = `{"tool_calls":[{"index":0,"id":"c1","function":{"name":"write","arguments":${args}}}]}`;
    const { exported } = await callWith('write', [`{"choices":[{"index":0,"delta":${delta}}]}`]);
    expect(exported).toContain('nest too deeply');
  });

  it('are not kept in what is echoed to the model server', async () => {
    const deep = FORMS['arrays']?.(20_000);
    const delta = `{"reasoning_details":[{"type":"x","data":${deep}}],"tool_calls":[{"index":0,"id":"c1","extra_content":${deep},"function":{"name":"f","arguments":"{}"}}]}`;
    const { exported } = await callWith('f', [`{"choices":[{"index":0,"delta":${delta}}]}`]);
    expect(exported.length).toBeLessThan(10_000);
  });

  it('are taken within the bound, and shown without being blown up', async () => {
    const inner = `[${'0,'.repeat(5_000)}0]`;
    const args = `{"a":${'['.repeat(maxDepth - 2)}${inner}${']'.repeat(maxDepth - 2)}}`;
    const { exported } = await callWith('unknown_tool', piecesOf(args));
    expect(exported).not.toContain('nest too deeply');
    expect(exported.length).toBeLessThan(5 * args.length);
  });
});

const BODIES: readonly (readonly [method: string, path: string])[] = [
  ['POST', 'api/v1/chat/completions'],
  ['POST', 'api/v1/chat/plan'],
  ['PATCH', 'api/v1/chat/completions/chat_00000000-0000-4000-8000-000000000001'],
  ['PATCH', 'api/v1/conversations/conv_00000000-0000-4000-8000-000000000000'],
  ['POST', 'api/v1/conversations/conv_00000000-0000-4000-8000-000000000000/forks'],
  [
    'POST',
    'api/v1/conversations/conv_00000000-0000-4000-8000-000000000000/approvals/call_00000000-0000-4000-8000-000000000000',
  ],
  ['POST', 'api/v1/conversations/conv_00000000-0000-4000-8000-000000000000/clarifications/doc_001'],
  ['POST', 'api/v1/tickets'],
  ['POST', 'v1/chat/completions'],
];

describe.each(BODIES)('a body of %s %s that nests too deeply', (method, path) => {
  it.each(DEPTHS)('is refused with its path: %i levels', async (depth) => {
    const body = `{"messages":[{"role":"user","content":"x"}],"context":{"rules":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}}`;
    const response = await SELF.fetch(`https://drawbridge.test/${path}`, {
      method,
      headers: { authorization: `Bearer ${await tokenFor()}` },
      body,
    });
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(response.status).toBe(400);
    expect(error.code.toUpperCase()).toBe('INVALID_REQUEST');
    expect(error.message).toMatch(/^context\.rules\[0\]\[0\]\[0\]\[0\]: JSON may nest 64 levels/);
  });
});

it('a request within the bound is judged by its fields', async () => {
  const body = `{"messages":[{"role":"user","content":${'['.repeat(maxDepth - 3)}${']'.repeat(maxDepth - 3)}}]}`;
  expect(await errorOf(await call('chat/completions', { body }))).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^messages\[0\]\.content/),
  });
});

describe("a bridge's result that nests too deeply", () => {
  it.each(DEPTHS)('is an error of its call, and the bridge stays: %i levels', async (depth) => {
    const bridge = await connectBridge();
    scriptModel((_, number) =>
      number === 0
        ? {
            calls: [
              { name: 'list_dir', arguments: { path: '.' } },
              { name: 'delete_file', arguments: { path: 'x' } },
            ],
          }
        : { text: 'Done.' },
    );
    const { reader, responseId, conversationId } = await askStreamed({ bridgeId: bridge.bridgeId });
    const calls = [await bridge.nextCall(), await bridge.nextCall()];
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    for (const { callId } of calls) {
      bridge.send(
        `{"type":"result","callId":"${callId}","result":{"status":"success","data":"x","metadata":{"result":{"status":"error","data":${deep}},"x":${deep}}}}`,
      );
      expect(await bridge.next('ack')).toEqual({ type: 'ack', callId });
    }
    await reader.toEnd();
    const { status, documents } = await readResponse(responseId);
    expect(status).toBe('completed');
    expect(documents.map(({ type, metadata }) => metadata['errorCode'] ?? type)).toEqual([
      'tool_call',
      'file_edit',
      'RESULT_TOO_DEEP',
      'RESULT_TOO_DEEP',
      'text',
    ]);
    expect((await call(`conversations/${conversationId}/export`)).status).toBe(200);
    await bridge.leave();
  });

  it('is taken within the bound', async () => {
    const bridge = await connectBridge();
    scriptModel((_, number) =>
      number === 0
        ? { calls: [{ name: 'list_dir', arguments: { path: '.' } }] }
        : { text: 'Done.' },
    );
    const { reader } = await askStreamed({ bridgeId: bridge.bridgeId });
    const { callId } = await bridge.nextCall();
    const deep = JSON.parse(`${'['.repeat(maxDepth - 1)}${']'.repeat(maxDepth - 1)}`);
    bridge.succeed(callId, 'x', { deep });
    expect(await bridge.next('ack')).toEqual({ type: 'ack', callId });
    expect(JSON.stringify(await reader.toEnd())).not.toContain('RESULT_TOO_DEEP');
    await bridge.leave();
  });

  it('does not keep a bridge that sends another frame so', async () => {
    const bridge = await connectBridge();
    bridge.send(`{"type":"context","context":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    expect(await bridge.next('goodbye')).toMatchObject({ code: 'BAD_FRAME' });
    expect(await bridge.closed).toBe(4003);
  });
});

/** The chunks that stream a call's arguments. */
function piecesOf(args: string): string[] {
  const size = Math.max(7, Math.ceil(args.length / 50));
  return Array.from({ length: Math.ceil(args.length / size) }, (_, at) =>
    JSON.stringify({
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              { index: 0, function: { arguments: args.slice(at * size, (at + 1) * size) } },
            ],
          },
        },
      ],
    }),
  );
}

/** A run in which the model makes this call and then says that it is done. Everything that reads it must be able to. */
async function callWith(name: string, chunks: readonly string[]) {
  const begin = JSON.stringify({
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index: 0, id: 'c1', function: { name, arguments: '' } }] },
      },
    ],
  });
  const end = '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}';
  scriptModel((_, number) =>
    number === 0
      ? streamOf([begin, ...chunks, end, '[DONE]'].map((data) => `data: ${data}\n\n`))
      : { text: 'Done.' },
  );
  const answer = await ask('go');
  const { id, conversationId, status, documents } =
    await answer.json<Awaited<ReturnType<typeof readResponse>>>();
  expect({ status, last: documents.at(-1)?.content }).toEqual({
    status: 'completed',
    last: 'Done.',
  });
  await readResponse(id);
  const read = await Promise.all(
    ['', '/export', '/export?format=markdown'].map(async (rest) => {
      const response = await call(`conversations/${conversationId}${rest}`);
      expect(response.status).toBe(200);
      return await response.text();
    }),
  );
  return { conversationId, exported: read[2] ?? '' };
}
