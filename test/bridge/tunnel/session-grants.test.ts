import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAudit } from '../../../bridge/grantees/audit.ts';
import { changeGrants } from '../../../bridge/grantees/grant-file.ts';
import { newConversationId } from '../../../shared/ids.ts';
import { guestEdit } from '../../../shared/tools/guest-edit.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import {
  Bench,
  command,
  DONE,
  newCall,
  nextResult,
  nextRun,
  scriptedTool,
  settle,
} from './session-bench.ts';

keepFoldersInMemory();

const NOT_GRANTED = { status: 'error', code: 'NOT_GRANTED' };

/** A machine that lets Ben in. */
async function benchFor(...[options]: Parameters<typeof Bench.start>): Promise<Bench> {
  const bench = await Bench.start(options);
  await allow(bench, 'ben', 'cleo');
  return bench;
}

async function allow({ stateDir }: Bench, ...names: readonly string[]): Promise<void> {
  const since = new Date().toISOString();
  await changeGrants(stateDir, () =>
    names.map((name) => ({ name, preset: 'trusted' as const, since })),
  );
}

function callOf(grantee: string, tool: string, more: Partial<ToolCall> = {}): ToolCall {
  const conversationId = newConversationId(crypto.randomUUID());
  return { ...newCall(tool), conversationId, grantee, ...more };
}

test('a call of an account that the machine lets in runs, and is on record', async () => {
  const { tool, runs } = command();
  const bench = await benchFor({ tools: [tool] });
  const call = callOf('ben', 'command');
  bench.send(call);
  (await nextRun(runs)).end(DONE);
  expect(await nextResult(bench, call)).toEqual(DONE);
  expect(await readAudit(bench.stateDir)).toEqual([
    {
      type: 'call',
      time: expect.any(String),
      account: 'ben',
      tool: 'command',
      conversation: call.conversationId,
      call: call.callId,
      subject: 'command',
      outcome: 'success',
    },
  ]);
});

test('the record has no word of a private call, and none of the owner’s calls', async () => {
  const { tool, runs } = command();
  const bench = await benchFor({ tools: [tool] });
  const [own, secret] = [newCall('command'), callOf('ben', 'command', { isPrivate: true })];
  bench.send(own, secret);
  for (const index of [0, 1]) (await nextRun(runs, index)).end(DONE);
  await nextResult(bench, secret);
  await nextResult(bench, own);
  expect(await readAudit(bench.stateDir)).toEqual([
    expect.not.objectContaining({ subject: expect.anything() }),
  ]);
});

test.each(['eve', '', 'ben\u200b', 'app:shop:1', 'x'.repeat(300)])(
  'a call in the name of %j is refused, whatever the edge says',
  async (grantee) => {
    const { tool, runs } = command();
    const bench = await benchFor({ tools: [tool] });
    const call = callOf(grantee, 'command');
    expect(await bench.run(call)).toMatchObject(NOT_GRANTED);
    expect(runs).toEqual([]);
    expect(await readAudit(bench.stateDir)).toMatchObject([{ outcome: 'NOT_GRANTED' }]);
  },
);

test.each([
  ['ben', 'cleo'],
  ['ben', undefined],
  [undefined, 'ben'],
])('a conversation that had calls of %j takes none of %j', async (first, later) => {
  const { tool, runs } = scriptedTool('look', { effect: 'read' });
  const bench = await benchFor({ tools: [tool] });
  const one: ToolCall = { ...newCall('look'), ...(first && { grantee: first }) };
  const other: ToolCall = { ...newCall('look'), ...(later && { grantee: later }) };
  bench.send(one);
  (await nextRun(runs)).end(DONE);
  expect(await nextResult(bench, one)).toEqual(DONE);
  expect(await bench.run(other)).toMatchObject(NOT_GRANTED);
  expect(runs).toHaveLength(1);
});

test('an ended grant ends its running call and refuses the one that waits, and no other account’s', async () => {
  const { tool, runs } = scriptedTool('edit', { effect: 'write', lane: 'a' });
  const other = scriptedTool('other', { effect: 'execute' });
  const bench = await benchFor({ tools: [tool, other.tool] });
  const [running, waiting] = [callOf('ben', 'edit'), callOf('ben', 'edit')];
  const [cleos, owners] = [callOf('cleo', 'other'), newCall('other')];
  bench.send(running, waiting, cleos, owners);
  await nextRun(runs);
  await nextRun(other.runs, 1);
  await allow(bench, 'cleo');
  bench.session.endGrants(['cleo']);
  expect(await nextResult(bench, running)).toMatchObject(NOT_GRANTED);
  expect(await nextResult(bench, waiting)).toMatchObject(NOT_GRANTED);
  for (const run of other.runs) run.end(DONE);
  expect([await nextResult(bench, cleos), await nextResult(bench, owners)]).toEqual([DONE, DONE]);
  expect(runs).toHaveLength(1);
});

test('a call that waits for its turn is refused although no one has noticed the ended grant yet', async () => {
  const { tool, runs } = scriptedTool('edit', { effect: 'write', lane: 'a' });
  const bench = await benchFor({ tools: [tool] });
  const [first, second] = [newCall('edit'), callOf('ben', 'edit')];
  bench.send(first, second);
  const run = await nextRun(runs);
  await allow(bench);
  run.end(DONE);
  expect(await nextResult(bench, second)).toMatchObject(NOT_GRANTED);
  expect(runs).toHaveLength(1);
});

test('a file of grants that someone damages refuses the next call', async () => {
  const { tool, runs } = command();
  const bench = await benchFor({ tools: [tool] });
  writeFileSync(join(bench.stateDir, 'grants.json'), '{"grants":[{"name":"ben"}]}');
  const call = callOf('ben', 'command');
  expect(await bench.run(call)).toMatchObject(NOT_GRANTED);
  expect(runs).toEqual([]);
});

test('what would ask a person is refused at once with the reason, and no one is asked', async () => {
  const { tool, runs } = command();
  const bench = await benchFor({ tools: [tool], decide: () => 'ask' });
  const call = callOf('ben', 'command');
  expect(await bench.run(call)).toEqual({
    status: 'error',
    code: 'DENIED',
    data: expect.stringMatching(/needs a yes of the owner.*the test says so/),
  });
  await settle();
  expect(bench.sent.filter(({ type }) => type.startsWith('approval'))).toEqual([]);
  expect(runs).toEqual([]);
});

test('an answer that the edge sends beforehand starts no call of another account', async () => {
  const { tool, runs } = command();
  const bench = await benchFor({ tools: [tool], decide: () => 'ask' });
  const call = callOf('ben', 'command');
  const answer = { callId: call.callId, nonce: 'a-nonce-of-the-edge', decision: 'once' as const };
  bench.session.receive({ type: 'approval', answer });
  expect(await bench.run(call)).toMatchObject({ code: 'DENIED' });
  expect(runs).toEqual([]);
});

test('the agent programs at the machine, and its servers’ tools, are the owner’s alone', async () => {
  const server = scriptedTool('mcp_find', { effect: 'read' });
  const offered = {
    ...server.tool,
    definition: { ...server.tool.definition, origin: { server: 'tickets', tool: 'find' } },
  };
  const bench = await benchFor({ tools: [offered] });
  const calls = [callOf('ben', 'mcp_find'), callOf('ben', guestEdit.name, { arguments: {} })];
  bench.send(...calls);
  for (const call of calls) {
    expect(await nextResult(bench, call)).toMatchObject({ code: 'UNKNOWN_TOOL' });
  }
  expect(server.runs).toEqual([]);
});
