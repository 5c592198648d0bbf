import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it } from 'vitest';
import { RUN_LIMITS } from '../../../../shared/limits.ts';
import { fewOf } from '../../../depth.ts';
import type { ScriptedRequest } from '../../../far-ends/reply-script.ts';
import { chat, scriptModel } from '../../api.ts';
import { connectBridge } from '../../tunnel/scripted-bridge.ts';
import { askAtBridge, askHeld, askStreamed, readResponse } from '../conversing.ts';
import { callFrame, endFrames, holdModel, readFile, runCommand, textFrame } from '../held-model.ts';

const write = { name: 'write', arguments: { path: 'a', contents: 'x' } };
it.each<[string, object, { name: string; raw: string }, string]>([
  ['an unknown tool', {}, { name: 'format_disk', raw: '{}' }, 'UNKNOWN_TOOL'],
  ['a name that no API would take back', {}, { name: 'x'.repeat(500), raw: '{}' }, 'UNKNOWN_TOOL'],
  ['arguments of a wrong type', {}, { name: 'read_file', raw: '{"limit": -1}' }, 'INVALID'],
  ['arguments that are no JSON', {}, { name: 'read_file', raw: '{"target_file": ' }, 'INVALID'],
  ['arguments that are a list', {}, { name: 'read_file', raw: '[1]' }, 'INVALID'],
  [
    'a tool that changes things in ask mode',
    { mode: 'ask' },
    { name: 'write', raw: JSON.stringify(write.arguments) },
    'READ_ONLY_MODE',
  ],
  [
    'an alias of such a tool in plan mode',
    { mode: 'plan' },
    { name: 'Shell', raw: '{"command": "ls"}' },
    'READ_ONLY_MODE',
  ],
  [
    'a tool that the request does not offer',
    { tools: ['grep'] },
    { name: 'read_file', raw: '{"target_file": "a"}' },
    'TOOL_NOT_OFFERED',
  ],
  [
    'a tool that the bridge does not have',
    { bridgeTools: ['grep'] },
    { name: 'read_file', raw: '{"target_file": "a"}' },
    'NO_BRIDGE',
  ],
])(
  'a call that must not run is answered with an error that the model reads: %s',
  async (_, { bridgeTools, ...options }: { bridgeTools?: string[] }, asked, code) => {
    const model = holdModel();
    const bridge = await connectBridge(bridgeTools ? { tools: bridgeTools } : {});
    const { reader, responseId } = await askStreamed({ bridgeId: bridge.bridgeId, ...options });
    const first = await model.next();
    first.send(callFrame(0, 'call_a', asked.name, asked.raw), ...endFrames('tool_calls'));
    const second = await model.next();
    expect(resultsIn(second.request)).toEqual([
      ['call_a', expect.stringMatching(new RegExp(`^Error ${code}`))],
    ]);
    second.answer({ text: 'Sorry.' });
    await reader.toEnd();
    const { documents, status } = await readResponse(responseId);
    expect(status).toBe('completed');
    expect(documents.map(({ id, sequence }) => [id, sequence])).toEqual(
      ['doc_001', 'doc_002', 'doc_003'].map((id, index) => [id, index + 1]),
    );
    expect(documents[1]).toMatchObject({
      type: 'error',
      metadata: { errorCode: expect.stringMatching(code), source: toolOf(asked.name).slice(0, 64) },
    });
    expect(bridge.frames).toEqual([]);
  },
);

it('a run offers only the tools that mode, request and bridge have in common', async () => {
  const model = holdModel();
  const bridge = await connectBridge({ tools: ['grep', 'write', 'read_file'] });
  const { reader } = await askStreamed({
    bridgeId: bridge.bridgeId,
    mode: 'ask',
    tools: ['Read', 'write'],
  });
  const reply = await model.next();
  expect(reply.request.tools?.map((tool) => tool.function.name)).toEqual(['read_file']);
  reply.answer({ text: 'ok' });
  await reader.toEnd();
});

it.each<[string, string, string, object]>([
  [
    'a path',
    'str_replace',
    '{"file_path": "src/a.py", "new_string": "x"}',
    { filePath: 'src/a.py', operation: 'edit', language: 'python' },
  ],
  [
    'a path that came behind the content',
    'edit_file',
    '{"code_edit": "x", "instructions": 1, "path": "src/a.py"}',
    { filePath: 'src/a.py', operation: 'edit', language: 'python' },
  ],
  [
    'a path of arguments that break off',
    'write',
    '{"path": "src/a.py", "contents": "x',
    { filePath: 'src/a.py', operation: 'create', language: 'python' },
  ],
  [
    'a command',
    'run_terminal_cmd',
    '{"command": "ls -l", "is_background": "perhaps"}',
    { command: 'ls -l' },
  ],
  [
    'both paths of a rename',
    'rename_file',
    '{"target_file": "a.py", "new_path": "b.py", "explanation": 3}',
    { filePath: 'a.py', newPath: 'b.py', operation: 'rename', language: 'python' },
  ],
  ['nothing, where there is none', 'delete_file', '{}', { filePath: '', operation: 'delete' }],
])('a refused call keeps what it was about: %s', async (_, name, raw, metadata) => {
  const { model, reader, responseId } = await askAtBridge();
  (await model.next()).send(callFrame(0, 'call_a', name, raw), ...endFrames('tool_calls'));
  (await model.next()).answer({ text: 'Sorry.' });
  await reader.toEnd();
  const { documents } = await readResponse(responseId);
  expect(documents[0]).toMatchObject({ metadata: { ...metadata, result: { status: 'error' } } });
  expect(documents[1]).toMatchObject({ metadata: { errorCode: 'INVALID_ARGUMENTS' } });
});

it('shows people what failed in a sentence, and what exactly in the details', async () => {
  const bridge = await connectBridge();
  scriptModel((_, turn) =>
    turn === 0 ? { calls: [readFile('src/a.py'), runCommand('x')] } : { text: 'Sorry.' },
  );
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  const data = 'src/a.py does not exist: look for it with glob_file_search.';
  const failures = {
    read_file: { code: 'FILE_NOT_FOUND', data },
    run_terminal_cmd: { code: 'ODD', data: '?' },
  };
  for (let index = 0; index < 2; index++) {
    const { callId, tool } = await bridge.nextCall();
    const result = { status: 'error' as const, ...failures[tool as keyof typeof failures] };
    bridge.send({ type: 'result', callId, result });
  }
  const { documents } = await answer;
  const errors = documents.filter(({ type }) => type === 'error');
  const traceId = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(errors.map(({ content, metadata }) => [content, metadata])).toEqual(
    expect.arrayContaining([
      [
        'There is no such file.',
        { errorCode: 'FILE_NOT_FOUND', source: 'read_file', details: data, traceId },
      ],
      [
        'run_terminal_cmd failed.',
        { errorCode: 'ODD', source: 'run_terminal_cmd', details: '?', traceId },
      ],
    ]),
  );
});

it('gives a command that runs on in the background no exit code', async () => {
  const bridge = await connectBridge();
  scriptModel((_, turn) => (turn === 0 ? { calls: [runCommand('serve')] } : { text: 'Up.' }));
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  const { callId } = await bridge.nextCall();
  const metadata = { command: 'serve', output: 'up', duration_ms: 1, permissions: [] };
  bridge.send({
    type: 'result',
    callId,
    result: { status: 'success', data: 'It runs.', metadata },
  });
  const { documents } = await answer;
  expect(documents[0]).toMatchObject({ type: 'terminal_command', metadata });
  expect(documents[0]?.metadata).not.toHaveProperty('exitCode');
});

it.each(['', '   ', '\n\t'])('sends blank arguments (%j) back as an empty object', async (raw) => {
  const { model, bridge, reader } = await askAtBridge();
  (await model.next()).send(
    callFrame(0, 'call_a', 'list_dir', raw),
    callFrame(1, 'call_b', 'list_dir', ''),
    ...endFrames('tool_calls'),
  );
  for (let index = 0; index < 2; index++) bridge.succeed((await bridge.nextCall()).callId, 'a.ts');
  const second = await model.next();
  const sent = second.request.messages.flatMap(({ tool_calls }) => tool_calls ?? []);
  expect(sent.map((call) => call.function.arguments)).toEqual(['{}', '{}']);
  second.answer({ text: 'ok' });
  await reader.toEnd();
});

it('gives the model results in the order of its calls, whatever order they arrive in', async () => {
  const { model, bridge, reader, responseId } = await askAtBridge();
  (await model.next()).answer({
    calls: [readFile('a'), { name: 'nothing', arguments: {} }, readFile('c'), runCommand('d')],
  });
  const calls = [await bridge.nextCall(), await bridge.nextCall(), await bridge.nextCall()];
  expect(calls.map((call) => call.arguments)).toEqual([
    { target_file: 'a' },
    { target_file: 'c' },
    { command: 'd' },
  ]);
  for (const call of calls.toReversed()) bridge.succeed(call.callId, `of ${call.tool}`);
  const second = await model.next();
  expect(resultsIn(second.request).map(([, content]) => content)).toEqual([
    'of read_file',
    expect.stringContaining('UNKNOWN_TOOL'),
    'of read_file',
    'of run_terminal_cmd',
  ]);
  second.answer({ text: 'Done.' });
  await reader.toEnd();
  const { documents, metadata } = await readResponse(responseId);
  expect(documents.map(({ type }) => type)).toEqual([
    'tool_call',
    'tool_call',
    'tool_call',
    'terminal_command',
    'error',
    'text',
  ]);
  expect(metadata).toMatchObject({ toolCallCount: 4, turnCount: 2 });
});

it('never sends one call id twice in a request, however often the upstream uses it', async () => {
  const { model, bridge, reader } = await askAtBridge();
  for (let turn = 0; turn < 2; turn++) {
    const reply = await model.next();
    const frames = ['a', 'b'].map((path, index) =>
      callFrame(index, 'call_0', 'read_file', JSON.stringify({ target_file: path })),
    );
    reply.send(...frames, ...endFrames('tool_calls'));
    for (const path of ['a', 'b']) {
      const call = await bridge.nextCall();
      expect(call.arguments).toEqual({ target_file: path });
      bridge.succeed(call.callId, `turn ${turn} ${path}`);
    }
  }
  const last = await model.next();
  const asked = last.request.messages.flatMap(({ tool_calls }) => tool_calls ?? []);
  const ids = asked.map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  expect(resultsIn(last.request)).toEqual(
    ['turn 0 a', 'turn 0 b', 'turn 1 a', 'turn 1 b'].map((content, index) => [ids[index], content]),
  );
  last.answer({ text: 'ok' });
  await reader.toEnd();
});

it('runs no call of a reply that reached its token limit', async () => {
  const { model, bridge, reader, responseId } = await askAtBridge();
  const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 };
  (await model.next()).send(
    callFrame(0, 'x', 'run_terminal_cmd', '{"command": "rm -rf a"}'),
    ...endFrames('length', usage),
  );
  await reader.toEnd();
  expect(await readResponse(responseId)).toMatchObject({
    status: 'error',
    documents: [
      { type: 'terminal_command', metadata: { result: { status: 'error' } } },
      { type: 'error', metadata: { errorCode: 'ANSWER_TRUNCATED' } },
    ],
    usage: { promptTokens: 5, completionTokens: 6, totalTokens: 11 },
    metadata: { turnCount: 1 },
  });
  expect(bridge.frames).toEqual([]);
});

it('sums the usage of all turns, with what only some of them report', async () => {
  const { model, reader, responseId } = await askHeld();
  const base = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  const cached = { ...base, prompt_tokens_details: { cached_tokens: 4 } };
  (await model.next()).send(callFrame(0, 'a', 'nothing', '{}'), ...endFrames('tool_calls', cached));
  (await model.next()).send(callFrame(0, 'b', 'nothing', '{}'), ...endFrames('tool_calls'));
  (await model.next()).send(textFrame('ok'), ...endFrames('stop', base));
  await reader.toEnd();
  expect((await readResponse(responseId)).usage).toEqual({
    promptTokens: 20,
    completionTokens: 4,
    totalTokens: 24,
    cachedPromptTokens: 4,
    unreportedRequests: 1,
  });
});

describe('the limit of turns', () => {
  const settings = env as { MAX_TURNS?: string };
  afterEach(() => delete settings.MAX_TURNS);

  const working = (_: ScriptedRequest, number: number) => ({
    calls: [{ name: 'nothing', arguments: { number } }],
  });
  const notesIn = ({ messages }: ScriptedRequest) =>
    messages.filter(({ content }) => String(content).includes('<system_reminder>The budget'));

  it('ends the answer, which says how to go on; the next message goes on from there', async () => {
    let isOver = false;
    const requests = scriptModel((request, number) =>
      isOver ? { text: 'Over.' } : working(request, number),
    );
    const stopped = await chat('go');
    const { maxTurns } = RUN_LIMITS;
    expect(requests).toHaveLength(maxTurns);
    expect(stopped).toMatchObject({ status: 'error', metadata: { turnCount: maxTurns } });
    expect(stopped.documents.at(-1)).toMatchObject({
      content: expect.stringMatching(/^Stopped after 100 turns.*send “continue”.*1000 turns/),
      metadata: { errorCode: 'TURN_LIMIT' },
    });
    isOver = true;
    const { conversationId } = stopped;
    const next = await chat('continue', { conversationId });
    expect(next.status).toBe('completed');
    const before = requests.at(-2)?.messages ?? [];
    const { messages = [] } = requests.at(-1) ?? {};
    expect(messages.slice(0, before.length)).toEqual(before);
    expect(messages.slice(before.length).map(({ role }) => role)).toEqual([
      ...['assistant', 'tool', 'user'],
    ]);
  });

  it('is sent to the model and to readers once, when a fifth is left', async () => {
    const requests = scriptModel(working);
    const { reader, responseId } = await askStreamed();
    const events = await reader.toEnd();
    const sent = events.flatMap(({ event }) => (event.type === 'budget_near' ? [event] : []));
    const spent = { turns: 80, tokens: 80 * 18, cost: null, seconds: expect.any(Number) };
    expect(sent).toEqual([
      {
        type: 'budget_near',
        responseId,
        budget: { limits: { maxTurns: 100 }, spent, near: ['maxTurns'] },
      },
    ]);
    const notes = requests.map((request) => notesIn(request).length);
    expect(notes).toEqual([...Array(80).fill(0), ...Array(20).fill(1)]);
    expect(notesIn(requests[99] as ScriptedRequest)[0]?.content).toContain('20 turns of 100');
  });

  const TURNS: readonly (readonly [string, number])[] = [
    ['2', 2],
    ['1', 1],
    ['1001', 100],
    ['0', 100],
    ['ten', 100],
  ];
  it.each(TURNS.slice(0, fewOf(TURNS.length, 3)))(
    'of the setting %s is %i',
    async (setting, turns) => {
      settings.MAX_TURNS = setting;
      const requests = scriptModel(working);
      await chat('go');
      expect(requests).toHaveLength(turns);
    },
  );

  it('of a request may be higher than that of the server', async () => {
    settings.MAX_TURNS = '3';
    const requests = scriptModel(working);
    const response = await chat('go', { budget: { maxTurns: 5 } });
    expect(requests).toHaveLength(5);
    expect(response.documents.at(-1)?.metadata['errorCode']).toBe('BUDGET_EXCEEDED');
  });

  it('holds beside a budget of something else', async () => {
    settings.MAX_TURNS = '3';
    scriptModel(working);
    const response = await chat('go', { budget: { maxTokens: 1_000 } });
    expect(response.documents.at(-1)?.metadata['errorCode']).toBe('TURN_LIMIT');
    expect(response.metadata.budget).toMatchObject({
      limits: { maxTokens: 1_000, maxTurns: 3 },
      spent: { turns: 3 },
      near: ['maxTurns'],
    });
  });
});

it('bounds what a tool gives the model', async () => {
  const { model, bridge, reader } = await askAtBridge();
  (await model.next()).answer({ calls: [readFile('big')] });
  const { callId } = await bridge.nextCall();
  bridge.succeed(callId, 'x'.repeat(RUN_LIMITS.maxResultChars + 5));
  const second = await model.next();
  const [result] = resultsIn(second.request);
  expect(result?.[1]).toBe(`${'x'.repeat(RUN_LIMITS.maxResultChars)}\n[cut: 5 more characters]`);
  second.answer({ text: 'ok' });
  await reader.toEnd();
});

/** The results in a request: under which id, and what the model reads. */
function resultsIn({ messages }: ScriptedRequest): [string | undefined, string][] {
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ tool_call_id, content }) => [tool_call_id, String(content)]);
}

function toolOf(name: string): string {
  return name === 'Shell' ? 'run_terminal_cmd' : name;
}
