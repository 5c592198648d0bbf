import { afterEach, expect, it, vi } from 'vitest';
import { BUILT_IN } from '../../../../shared/tools/toolbox.ts';
import { repeatedCalls } from '../../../../worker/conversation/calls/repeated-calls.ts';
import type { ScriptedCall } from '../../../far-ends/reply-script.ts';
import { chat, scriptModel } from '../../api.ts';
import { completed } from '../../openai/completing.ts';
import { connectBridge } from '../../tunnel/scripted-bridge.ts';
import { readFile, runCommand } from '../held-model.ts';

afterEach(() => vi.restoreAllMocks());

const read = { name: 'read_file', arguments: { target_file: 'a', limit: 3 } };
const sameRead = { name: 'Read', arguments: { limit: 3, target_file: 'a' } };
const write = (path: string) => ({ name: 'write', arguments: { path, contents: '' } });
const nothing = { name: 'no_such_tool', arguments: {} };
const refused = { name: 'write', arguments: null };

it.each<[string, readonly { name: string; arguments: object | null }[], readonly number[]]>([
  ['the third of the same', [read, sameRead, read], [2]],
  ['all after it', [read, read, read, read], [2, 3]],
  ['none of different ones', [read, readFile('b'), readFile('c')], []],
  ['others between make no difference', [read, readFile('b'), read, readFile('b'), read], [4]],
  ['an edit between does', [read, read, write('b'), read, read], []],
  ['and so does a command', [read, read, runCommand('ls'), read, read], []],
  ['the same edit is not between', [write('a'), write('a'), write('a')], [2]],
  ['but another one is', [write('a'), write('a'), write('b'), write('a')], []],
  ['a refused one changes nothing', [read, read, refused, nothing, read], [4]],
])('counts %s', (_, calls, repeated) => {
  const made = calls.map(({ name, arguments: args }, index) => ({
    ...{ callId: `${index}`, upstreamId: '', documentId: '', rawArguments: '', name },
    arguments: args as Record<string, unknown> | null,
  }));
  const ids = repeated.map((index) => `${index}`);
  expect([
    ...repeatedCalls(
      made.map((call) => ({ calls: [call] })),
      BUILT_IN,
    ),
  ]).toEqual(ids);
  expect([...repeatedCalls([{ calls: made }], BUILT_IN)]).toEqual(ids);
});

it('asks the person about the third, with the reason', async () => {
  const bridge = await connectBridge();
  repeat(readFile('a'), 3);
  const answer = chat('go', {
    bridgeId: bridge.bridgeId,
    tools: { read_file: { allowedPaths: ['a'] } },
  });
  const calls = [];
  for (let index = 0; index < 3; index++) {
    const call = await bridge.nextCall();
    calls.push(call);
    bridge.succeed(call.callId, 'x');
  }
  expect((await answer).status).toBe('completed');
  const limits = { allowedPaths: ['a'] };
  expect(calls.map((call) => [call.limits, call.approvalReason])).toEqual([
    [limits, undefined],
    [limits, undefined],
    [{ ...limits, requireApproval: true }, expect.stringContaining('nothing has changed')],
  ]);
});

it('counts anew with the next message', async () => {
  const bridge = await connectBridge();
  repeat(readFile('a'), 2);
  let conversationId: string | undefined;
  for (let message = 0; message < 2; message++) {
    const more = conversationId === undefined ? { bridgeId: bridge.bridgeId } : { conversationId };
    const answer = chat('go', more);
    for (let index = 0; index < 2; index++) {
      const call = await bridge.nextCall();
      expect(call.approvalReason).toBe(undefined);
      bridge.succeed(call.callId, 'x');
    }
    ({ conversationId } = await answer);
  }
});

it('refuses the third of a tool that needs no machine', async () => {
  const todos = [{ id: 'a', content: 'Read', status: 'pending' }];
  repeat({ name: 'todo_write', arguments: { merge: true, todos } }, 3);
  const { documents } = await chat('go');
  expect(documents.map(({ type, metadata }) => [type, metadata['errorCode']])).toEqual([
    ['todo_update', undefined],
    ['todo_update', undefined],
    ['todo_update', undefined],
    ['error', 'REPEATED_CALL'],
    ['text', undefined],
  ]);
});

it('refuses the third where nobody can be asked', async () => {
  const bridge = await connectBridge();
  const requests = repeat(readFile('a'), 3);
  const answer = completed({ bridgeId: bridge.bridgeId });
  for (let index = 0; index < 2; index++) bridge.succeed((await bridge.nextCall()).callId, 'x');
  expect((await answer).choices[0]?.message.content).toBe('Done.');
  expect(requests.at(-1)?.messages.at(-1)?.content).toMatch(/^Error REPEATED_CALL/);
});

/** A model that makes a call so often for each message, and then says that it is done. */
function repeat(call: ScriptedCall, times: number) {
  return scriptModel(({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const made = since.filter(({ role }) => role === 'tool').length;
    return made < times ? { calls: [call] } : { text: 'Done.' };
  });
}
