import { expect, it } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import { completed } from '../../../../doors/test/openai/completing.ts';
import { BUILT_IN } from '../../../../shared/tools/toolbox.ts';
import type { ToolResult } from '../../../../shared/wire/tunnel.ts';
import {
  noted,
  repeatedResult,
  stopped,
} from '../../../../worker/conversation/calls/repeated-calls.ts';
import type { Call } from '../../../../worker/conversation/store/rows.ts';
import type { ScriptedCall } from '../../../far-ends/reply-script.ts';
import { create, newAccount, untilStatus } from '../../agents/agents.ts';
import { call, chat, scriptModel } from '../../api.ts';
import { connectBridge, type ScriptedBridge } from '../../tunnel/scripted-bridge.ts';
import { askHeld, askStreamed } from '../conversing.ts';
import { holdModel, readFile, runCommand } from '../held-model.ts';
import { taskCall } from '../subagents/tree.ts';

/** A call of a log, with its result where it is not `same`. */
interface Made {
  readonly name: string;
  readonly arguments: object | null;
  readonly result?: ToolResult;
}

const SAME: ToolResult = { status: 'success', data: 'same' };
const CHANGED: ToolResult = { status: 'success', data: 'changed' };
const STOPPED = stopped(SAME);
const SEEN = noted(SAME);

const read: Made = { name: 'read_file', arguments: { target_file: 'a', limit: 3 } };
const sameRead: Made = { name: 'Read', arguments: { limit: 3, target_file: 'a' } };
const other: Made = readFile('b');
const edit = (path: string): Made => ({ name: 'write', arguments: { path, contents: '' } });
const command: Made = runCommand('make');
const task: Made = taskCall('look');
const question: Made = { name: 'ask_question', arguments: { questions: [] } };
const todos: Made = { name: 'todo_write', arguments: { todos: [] } };
const nothing: Made = { name: 'no_such_tool', arguments: {} };
const refused: Made = { name: 'write', arguments: null };
const giving = (made: Made, result: ToolResult): Made => ({ ...made, result });

/** Whether the first call of the last turn repeats others. */
function repeats(
  turns: readonly (readonly Made[])[],
  {
    spokenAfter = [],
    leftOutThrough = 0,
  }: { spokenAfter?: number[]; leftOutThrough?: number } = {},
): ToolResult | null {
  const rows = turns.map((made, index) => ({ number: index + 1, calls: made.map(callOf) }));
  const call = rows.at(-1)?.calls[0];
  if (!call) throw new Error('a log has a call');
  return repeatedResult(call, {
    turns: rows,
    toolbox: BUILT_IN,
    spokenAfter: new Set(spokenAfter),
    resultOf: (turn, index) =>
      turn === rows.length ? null : (turns[turn - 1]?.[index]?.result ?? SAME),
    leftOutThrough: () => leftOutThrough,
  });
}

function callOf({ name, arguments: args }: Made, index: number): Call {
  const ids = { callId: `${index}`, upstreamId: '', documentId: '', rawArguments: '' };
  return { ...ids, name, arguments: args as Call['arguments'] };
}

it.each<[string, readonly (readonly Made[])[]]>([
  ['the third time', [[read], [sameRead], [read]]],
  ['and all after it', [[read], [read], [read], [giving(read, SEEN)], [read]]],
  ['with other reads between', [[read], [other], [read], [other, todos], [read]]],
  [
    'also in turns of several',
    [
      [read, other],
      [other, read],
      [read, other],
    ],
  ],
  ['the same edit is not between', [[edit('a')], [edit('a')], [edit('a')]]],
  ['a refused or unknown call is not between', [[read], [read], [refused, nothing], [read]]],
  [
    'a stopped one counts for nothing',
    [[command], [command], [giving(command, STOPPED)], [command]],
  ],
  ['a subagent', [[task], [task], [task]]],
  ['a question', [[question], [question], [question]]],
  ['after other results', [[giving(read, CHANGED)], [read], [read], [read]]],
])('a call repeats others %s', (_, turns) => {
  expect(repeats(turns)).toEqual(SAME);
});

it.each<[string, readonly (readonly Made[])[]]>([
  ['the second time', [[read], [read]]],
  ['with other arguments', [[read], [read], [other]]],
  ['in one turn', [[read, read, read]]],
  [
    'in two turns, however often',
    [
      [read, read, read],
      [read, read],
    ],
  ],
  ['where the result was another', [[read], [giving(read, CHANGED)], [read]]],
  ['where it was another before', [[giving(read, CHANGED)], [read], [read]]],
  ['where equal calls of one turn differed', [[read], [read, giving(read, CHANGED)], [read]]],
  ['after an edit', [[read], [read], [edit('b')], [read]]],
  ['with an edit between', [[read], [edit('b')], [read], [read]]],
  ['with an edit in the same turn', [[read], [read], [read, edit('b')]]],
  ['after a command', [[read], [read], [command], [read]]],
  ['after a subagent', [[read], [read], [task], [read]]],
  ['after an answered question', [[read], [read], [question], [read]]],
  ['an edit after another edit', [[edit('a')], [edit('b')], [edit('a')], [edit('b')], [edit('a')]]],
  ['that cannot run', [[refused], [refused], [refused]]],
  ['of an unknown tool', [[nothing], [nothing], [nothing]]],
])('a call does not repeat others %s', (_, turns) => {
  expect(repeats(turns)).toBeNull();
});

it('a call does not repeat others after a message of the person, but before one', () => {
  const turns = [[read], [read], [read]];
  expect(repeats(turns, { spokenAfter: [2] })).toBeNull();
  expect(repeats(turns, { spokenAfter: [1] })).toBeNull();
  expect(repeats(turns, { spokenAfter: [0, 3] })).toEqual(SAME);
});

it('a call does not repeat others in a turn of Drawbridge itself, which also does not count for others', () => {
  const rows = [read, read, read, read].map((made, index) => ({
    number: index + 1,
    calls: [callOf(made, 0)],
    ...((index === 1 || index === 3) && { own: 'check' as const }),
  }));
  const judge = (turns: typeof rows) =>
    repeatedResult(callOf(read, 0), {
      turns,
      toolbox: BUILT_IN,
      spokenAfter: new Set<number>(),
      resultOf: () => SAME,
      leftOutThrough: () => 0,
    });
  expect(judge(rows)).toBeNull();
  expect(judge(rows.slice(0, 3))).toBeNull();
  expect(judge([...rows.slice(0, 3), { number: 4, calls: [callOf(read, 0)] }])).toEqual(SAME);
});

it('a call does not repeat others where the window has left a result out', () => {
  const turns = [[read], [read], [read], [read]];
  expect(repeats(turns, { leftOutThrough: 2 })).toBeNull();
  expect(repeats(turns, { leftOutThrough: 1 })).toEqual(SAME);
});

it.each([1, 2, 3, 4, 5])('any log is judged as the rule says (seed %i)', (seed) => {
  const random = new Random(seed);
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
  const kinds = [read, read, sameRead, other, edit('a'), command, todos, task, question, refused];
  const results = [SAME, SAME, SAME, SEEN, CHANGED, STOPPED];
  let found = 0;
  for (let log = 0; log < 2_000; log++) {
    const some = random.chance(0.5) ? kinds : [pick(kinds), pick(kinds)];
    const turns = Array.from({ length: 1 + random.below(6) }, () =>
      Array.from({ length: random.chance(0.7) ? 1 : 2 }, () => giving(pick(some), pick(results))),
    );
    const spokenAfter = random.chance(0.2) ? [random.below(6)] : [];
    const leftOutThrough = random.chance(0.2) ? random.below(5) : 0;
    const wanted = byTheRule(turns, spokenAfter, leftOutThrough);
    expect(repeats(turns, { spokenAfter, leftOutThrough }), JSON.stringify(turns)).toEqual(wanted);
    if (wanted) found++;
  }
  expect(found).toBeGreaterThan(50);
});

/** The rule as a statement about two earlier turns, without a walk through the log. */
function byTheRule(
  turns: readonly (readonly Made[])[],
  spokenAfter: readonly number[],
  leftOutThrough: number,
): ToolResult | null {
  const call = turns.at(-1)?.[0];
  const tool = call?.arguments && BUILT_IN.find(call.name);
  if (!call || !tool) return null;
  const own = turns.length - 1;
  const isEqual = (made: Made) => made.arguments !== null && keyOf(made) === keyOf(call);
  const ran = (made: Made) => isEqual(made) && made.result !== STOPPED;
  const earlier = turns.flatMap((turn, place) => (place < own && turn.some(ran) ? [place] : []));
  const [from, to] = earlier.slice(-2);
  if (from === undefined || to === undefined || from + 1 <= leftOutThrough) return null;
  if (spokenAfter.some((place) => place > from && place <= own)) return null;
  const between = turns.slice(from).flat();
  if (between.some((made) => !isEqual(made) && made.arguments !== null && DOES.has(made.name)))
    return null;
  const seen = [from, to].flatMap((place) => (turns[place] ?? []).filter(ran));
  const texts = new Set(seen.map(({ result }) => (result === CHANGED ? CHANGED : SAME)));
  const [only] = texts;
  return texts.size === 1 && only ? only : null;
}

const DOES = new Set(['write', 'run_terminal_cmd', 'task', 'ask_question']);

function keyOf({ name, arguments: args }: Made): string {
  return BUILT_IN.nameOf(name) + JSON.stringify(Object.entries(args ?? {}).sort());
}

it('in a run, a third read runs without a question; the model gets the same result with a note', async () => {
  const bridge = await connectBridge();
  const requests = repeat(readFile('a'), 3);
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  await succeed(bridge, ['x', 'x', 'x']);
  expect((await answer).status).toBe('completed');
  expect(resultsSent(requests)).toEqual([
    'x',
    'x',
    expect.stringMatching(/^x\n\n\[REPEATED_CALL: /),
  ]);
});

it('in a run, a third read of a file that has changed is as the first', async () => {
  const bridge = await connectBridge();
  const requests = repeat(readFile('a'), 3);
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  await succeed(bridge, ['x', 'x', 'y']);
  await answer;
  expect(resultsSent(requests)).toEqual(['x', 'x', 'y']);
});

it('in a run, a person is asked about the third command, with the reason', async () => {
  const bridge = await connectBridge();
  repeat(runCommand('make'), 3);
  const tools = { run_terminal_cmd: {} };
  const answer = chat('go', { bridgeId: bridge.bridgeId, tools });
  const calls = await succeed(bridge, ['x', 'x', 'x']);
  expect((await answer).status).toBe('completed');
  expect(calls.map(({ limits, approvalReason }) => [limits, approvalReason])).toEqual([
    [{}, undefined],
    [{}, undefined],
    [{ requireApproval: true }, expect.stringContaining('nothing has changed')],
  ]);
});

it('in a run, a command with another result each time may run on', async () => {
  const bridge = await connectBridge();
  repeat(runCommand('make'), 4);
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  const calls = await succeed(bridge, ['1', '2', '3', '4']);
  await answer;
  expect(calls.map(({ approvalReason }) => approvalReason)).toEqual(Array(4).fill(undefined));
});

it('in a run, calls of the message before do not count', async () => {
  const bridge = await connectBridge();
  repeat(runCommand('make'), 2);
  const first = chat('go', { bridgeId: bridge.bridgeId });
  await succeed(bridge, ['x', 'x']);
  const { conversationId } = await first;
  const next = chat('go', { conversationId });
  const calls = await succeed(bridge, ['x', 'x']);
  await next;
  expect(calls.map(({ approvalReason }) => approvalReason)).toEqual([undefined, undefined]);
});

it('in a run, a third question is answered with the answer before, and no person is asked', async () => {
  const ask = { id: 'q1', prompt: 'Which?', options: [{ id: 'a', label: 'A' }] };
  const requests = repeat({ name: 'ask_question', arguments: { title: 'T', questions: [ask] } }, 3);
  const { reader, conversationId } = await askStreamed();
  for (const number of [1, 2]) {
    await reader.until(
      (all) => all.filter(({ event }) => event.type === 'clarification_request').length === number,
    );
    const body = { answers: [{ questionId: 'q1', optionIds: ['a'] }] };
    await call(`conversations/${conversationId}/clarifications/doc_00${number}`, { body });
  }
  await reader.toEnd();
  expect(resultsSent(requests).at(-1)).toMatch(/A \(a\).*REPEATED_CALL/s);
});

const refusal = /^Error REPEATED_CALL: Not run: .*succeeded with:\nx$/s;

it('where no one is there to answer, the third command is refused with the result before, in an answer of `/v1`', async () => {
  const bridge = await connectBridge();
  const requests = repeat(runCommand('make'), 3);
  const answer = completed({ bridgeId: bridge.bridgeId });
  await succeed(bridge, ['x', 'x']);
  expect((await answer).choices[0]?.message.content).toBe('Done.');
  expect(resultsSent(requests)).toEqual(['x', 'x', expect.stringMatching(refusal)]);
});

it.each([
  ['never asks', { allowed: false }],
  ['limits the time of questions', { afterSeconds: 60, otherwise: 'default' }],
])(
  'where no one is there to answer, the third command is refused with the result before, in a request that %s',
  async (_, questions) => {
    const bridge = await connectBridge();
    const requests = repeat(runCommand('make'), 3);
    const answer = chat('go', { bridgeId: bridge.bridgeId, questions });
    await succeed(bridge, ['x', 'x']);
    expect((await answer).status).toBe('completed');
    expect(resultsSent(requests).at(-1)).toMatch(refusal);
  },
);

it('where no one is there to answer, the third command is refused with the result before, in the background and in the subagents there', async () => {
  const account = newAccount();
  const bridge = await connectBridge({ account });
  const model = holdModel();
  const { id } = await create(account, { bridgeId: bridge.bridgeId, workspace: 'in_place' });
  (await model.next()).answer({ calls: [taskCall('make it', { type: 'generalPurpose' })] });
  for (const _ of [1, 2]) {
    (await model.next()).answer({ calls: [runCommand('make')] });
    await succeed(bridge, ['x']);
  }
  (await model.next()).answer({ calls: [runCommand('make')] });
  const child = await model.next();
  expect(child.request.messages.at(-1)?.content).toMatch(refusal);
  child.answer({ text: 'Over.' });
  for (const _ of [1, 2]) {
    (await model.next()).answer({ calls: [runCommand('test')] });
    await succeed(bridge, ['x']);
  }
  (await model.next()).answer({ calls: [runCommand('test')] });
  const root = await model.next();
  expect(root.request.messages.at(-1)?.content).toMatch(refusal);
  root.answer({ text: 'Over.' });
  await untilStatus(account, id, 'completed');
});

it('a third equal subagent is not started', async () => {
  const bridge = await connectBridge();
  const { model, reader } = await askHeld({ bridgeId: bridge.bridgeId });
  for (const _ of [1, 2]) {
    (await model.next()).answer({ calls: [taskCall('look')] });
    (await model.next()).answer({ text: 'Nothing found.' });
  }
  (await model.next()).answer({ calls: [taskCall('look')] });
  const last = await model.next();
  expect(last.request.messages.at(-1)?.content).toMatch(/^Error REPEATED_CALL.*Nothing found\./s);
  last.answer({ text: 'Over.' });
  await reader.toEnd();
});

/** Lets the next calls at the bridge succeed, one after the other. */
async function succeed(bridge: ScriptedBridge, results: readonly string[]) {
  const calls = [];
  for (const result of results) {
    const call = await bridge.nextCall();
    calls.push(call);
    bridge.succeed(call.callId, result);
  }
  return calls;
}

function resultsSent(requests: ReturnType<typeof scriptModel>): (string | null | undefined)[] {
  const { messages = [] } = requests.at(-1) ?? {};
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content as string);
}

/** A model that makes a call so often for each message, and then says that it is done. */
function repeat(call: ScriptedCall, times: number) {
  return scriptModel(({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const made = since.filter(({ role }) => role === 'tool').length;
    return made < times ? { calls: [call] } : { text: 'Done.' };
  });
}
