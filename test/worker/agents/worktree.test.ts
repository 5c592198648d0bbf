import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { responseIdOf } from '../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { toolsRunBy } from '../../../shared/tools/catalogue.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import { call, errorOf } from '../api.ts';
import { conversationObject } from '../conversation/conversing.ts';
import { type HeldModel, holdModel, readFile, textFrame } from '../conversation/held-model.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';
import {
  connectBridge,
  openBridge,
  type ScriptedBridge,
  tunnelOf,
} from '../tunnel/scripted-bridge.ts';
import { create, newAccount, post, read, untilStatus } from './agents.ts';

const WORKTREES = ['open_worktree', 'close_worktree', 'remove_worktree'];
const OPENED = {
  branch: 'drawbridge/1',
  base: 'b'.repeat(40),
  uncommitted: true,
  path: '/state/w',
};
const CLOSED = {
  branch: 'drawbridge/1',
  head: 'c'.repeat(40),
  committed: true,
  omitted: 0,
  diff: '+one\n',
  files: [{ path: 'a.ts', status: 'modified', added: 1, removed: 0 }],
};

it('a run opens a worktree, works there and closes it; the model sees neither call', async () => {
  const { account, bridge, model, id } = await begin(WISHES);
  expect(shapeOf(await open(bridge))).toEqual({
    tool: 'open_worktree',
    mode: 'agent',
    arguments: { branch: 'fix', base: 'main' },
  });
  const first = await model.next();
  expect(first.request.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  const note = String(first.request.messages[1]?.content);
  expect(note).toContain('git worktree of your own');
  expect(note).toContain('On drawbridge/1 &lt;b&gt;.');
  first.answer({ calls: [readFile('a.ts')] });
  const reading = await bridge.nextCall();
  expect(shapeOf(reading)).toMatchObject({ tool: 'read_file', mode: 'ask', worktree: true });
  bridge.succeed(reading.callId, 'one');
  const second = await model.next();
  expect(second.request.messages.slice(0, 2)).toEqual(first.request.messages);
  second.answer({ text: 'Done.' });
  expect(shapeOf(await close(bridge))).toEqual({
    tool: 'close_worktree',
    mode: 'agent',
    arguments: { commit: true, message: 'Fix it' },
  });
  const done = await untilStatus(account, id, 'completed');
  expect(done).toMatchObject({ result: 'Done.', worktree: { ...OPENED, ...CLOSED } });
  const view = Object(await (await call(`conversations/${id}`, { account })).json());
  const [{ documents, metadata, usage }] = view.responses;
  expect(documents.map((one: { type: string }) => one.type)).toEqual([
    ...['tool_call', 'tool_call', 'text', 'tool_call'],
  ]);
  expect(metadata).toMatchObject({ turnCount: 2, toolCallCount: 1 });
  expect(usage).not.toHaveProperty('unreportedRequests');
});

it('a follow-up and a plain message work in the same worktree, and close it again', async () => {
  const { account, bridge, model, id } = await begin();
  await serve(bridge, model, 'One.');
  await untilStatus(account, id, 'completed');
  await post(account, `/${id}/followup`, { prompt: 'More' });
  await serve(bridge, model, 'Two.');
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ result: 'Two.' });
  const body = { messages: [{ role: 'user', content: 'Still more' }], conversationId: id };
  const asking = call('chat/completions', { account, body });
  await serve(bridge, model, 'Three.');
  expect(Object(await (await asking).json()).status).toBe('completed');
});

it('each commit is named after the message that it answers', async () => {
  const { account, bridge, model, id } = await begin({ title: 'Add a login', commit: true });
  const messages: unknown[] = [];
  for (const prompt of ['\n Now with tests\nand docs', 'Add a login']) {
    await open(bridge);
    (await model.next()).answer({ text: 'Done.' });
    messages.push(Object((await close(bridge)).arguments).message);
    await untilStatus(account, id, 'completed');
    await post(account, `/${id}/followup`, { prompt });
  }
  await open(bridge);
  (await model.next()).answer({ text: 'Done.' });
  messages.push(Object((await close(bridge)).arguments).message);
  expect(messages).toEqual(['Add a login', 'Now with tests\n\nAdd a login', 'Add a login']);
});

it('a message that steers while the worktree closes is answered, and it closes again', async () => {
  const { account, bridge, model, id } = await begin();
  await open(bridge);
  (await model.next()).answer({ text: 'One.' });
  const closing = await bridge.nextCall();
  await post(account, `/${id}/followup`, { prompt: 'And this', delivery: 'steer' });
  bridge.succeed(closing.callId, 'Closed.', CLOSED);
  (await model.next()).answer({ text: 'Two.' });
  await close(bridge);
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ result: 'Two.' });
});

it.each(['open', 'close'] as const)(
  'a worktree that fails to %s ends the run with its code, and the next run makes it',
  async (when) => {
    const { account, bridge, model, id } = await begin();
    if (when === 'close') {
      await open(bridge);
      (await model.next()).answer({ text: 'One.' });
    }
    const { callId } = await bridge.nextCall();
    const data = 'The branch exists. Name another.';
    bridge.finish(callId, { status: 'error', code: 'BRANCH_TAKEN', data });
    const agent = await untilStatus(account, id, 'error');
    expect(agent).toMatchObject({
      error: { code: 'BRANCH_TAKEN', details: data },
    });
    expect(model.count).toBe(when === 'open' ? 0 : 1);
    if (when === 'close') await close(bridge); // The agent's own, after the run.
    await post(account, `/${id}/followup`, { prompt: 'Try again' });
    await serve(bridge, model, 'Done.');
    expect(await untilStatus(account, id, 'completed')).toMatchObject({ result: 'Done.' });
  },
);

it.each(['open', 'work', 'close'] as const)(
  'a crash while the run waits (%s) neither loses nor repeats a step',
  async (when) => {
    const { account, bridge, model, id } = await begin();
    const crash = async (step: string) => {
      if (step !== when) return;
      await abortAllDurableObjects();
      await runDurableObjectAlarm(conversationObject(id));
    };
    const opening = await bridge.nextCall();
    await crash('open');
    const again = await reconnected(account, bridge, when === 'open');
    again.succeed(opening.callId, 'Open.', OPENED);
    const held = await model.next();
    await crash('work');
    const now = await reconnected(account, again, when === 'work');
    (when === 'work' ? await model.next() : held).answer({ text: 'Done.' });
    const closing = await now.nextCall();
    await crash('close');
    const last = await reconnected(account, now, when === 'close');
    last.succeed(closing.callId, 'Closed.', CLOSED);
    expect(await untilStatus(account, id, 'completed')).toMatchObject({ worktree: CLOSED });
    const view = Object(await (await call(`conversations/${id}`, { account })).json());
    const tools = view.responses[0].documents.filter(
      ({ type }: { type: string }) => type === 'tool_call',
    );
    expect(tools).toHaveLength(2);
  },
);

it('stopping while the worktree is made withdraws the call', async () => {
  const { account, bridge, model, id } = await begin();
  const { callId } = await bridge.nextCall();
  await post(account, `/${id}/stop`);
  expect(await bridge.next('cancel')).toMatchObject({ callId });
  expect(await untilStatus(account, id, 'cancelled')).not.toHaveProperty('worktree');
  expect(model.count).toBe(0);
});

it.each(['stopped', 'failed'] as const)(
  'the bridge closes the worktree of a run that was %s, without a commit',
  async (how) => {
    const { account, bridge, model, id } = await begin(WISHES);
    await open(bridge);
    const held = await model.next();
    if (how === 'failed') {
      held.send(textFrame('Half'));
      held.close(new Error('lost'));
    } else await post(account, `/${id}/stop`);
    const closing = await bridge.nextCall();
    expect(shapeOf(closing)).toEqual({
      tool: 'close_worktree',
      mode: 'agent',
      arguments: { commit: false },
    });
    const status = how === 'failed' ? 'error' : 'cancelled';
    expect(await untilStatus(account, id, status)).toMatchObject({ worktree: { isClosing: true } });
    bridge.succeed(closing.callId, 'Closed.', { ...CLOSED, committed: false });
    await untilAcked(bridge, closing.callId);
    const { worktree } = await read(account, id);
    expect(worktree).toEqual({ ...OPENED, ...CLOSED, committed: false });
    const view = Object(await (await call(`conversations/${id}`, { account })).json());
    expect(view.responses[0].documents).not.toContainEqual(
      expect.objectContaining({ content: expect.stringContaining('close_worktree') }),
    );
  },
);

it('a bridge that was away closes the worktree when it is back, also after a crash', async () => {
  const { account, bridge, model, id } = await begin();
  await open(bridge);
  await model.next();
  await bridge.leave();
  await post(account, `/${id}/stop`);
  await untilStatus(account, id, 'cancelled');
  await abortAllDurableObjects();
  shiftClock(RUN_LIMITS.bridgeGraceMs);
  await runDurableObjectAlarm(tunnelOf(bridge.bridgeId));
  expect((await read(account, id)).worktree).toMatchObject({ isClosing: true });
  const again = await openBridge({ account, bridgeId: bridge.bridgeId, tools: TOOLS });
  const [closing] = (await again.greet()).calls;
  expect(closing).toMatchObject({ tool: 'close_worktree', arguments: { commit: false } });
  again.succeed(closing?.callId ?? '', 'Closed.', CLOSED);
  await untilAcked(again, closing?.callId);
  expect((await read(account, id)).worktree).toMatchObject({ diff: CLOSED.diff });
});

it('a crash at the end of a run still closes its worktree', async () => {
  const { account, bridge, id } = await beginAndStop();
  const closing = await bridge.nextCall();
  await abortAllDurableObjects();
  const again = await reconnected(account, bridge, true);
  again.succeed(closing.callId, 'Closed.', CLOSED);
  await untilAcked(again, closing.callId);
  const { worktree } = await read(account, id);
  expect(worktree).toMatchObject({ diff: CLOSED.diff });
  expect(worktree).not.toHaveProperty('isClosing');
});

it('a worktree that cannot be closed is no longer said to be closing', async () => {
  const { account, bridge, id } = await beginAndStop();
  const { callId } = await bridge.nextCall();
  bridge.finish(callId, { status: 'error', code: 'WORKTREE_GONE', data: 'It is gone.' });
  await untilAcked(bridge, callId);
  expect((await read(account, id)).worktree).toEqual(OPENED);
});

it('the difference of a follow-up that succeeds replaces that of a cancelled run', async () => {
  const { account, bridge, model, id } = await beginAndStop();
  const closing = await bridge.nextCall();
  bridge.succeed(closing.callId, 'Closed.', { ...CLOSED, diff: '+half\n' });
  await untilAcked(bridge, closing.callId);
  expect((await read(account, id)).worktree).toMatchObject({ diff: '+half\n' });
  await post(account, `/${id}/followup`, { prompt: 'Go on' });
  await serve(bridge, model, 'Done.');
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ worktree: CLOSED });
});

it.each(['archive', 'delete'])('%s removes the worktree', async (change) => {
  const { account, bridge, model, id } = await begin();
  await serve(bridge, model, 'One.');
  await untilStatus(account, id, 'completed');
  if (change === 'archive') await post(account, `/${id}/archive`);
  else await call(`agents/${id}`, { method: 'DELETE', account });
  const removal = await bridge.nextCall();
  expect(removal).toMatchObject({ tool: 'remove_worktree', conversationId: id });
  bridge.succeed(removal.callId, 'Removed.');
  expect(await bridge.next('ack')).toBeDefined();
});

it('the fork of a fork restores files in the worktree of the agent', async () => {
  const { account, bridge, model, id } = await begin();
  await serve(bridge, model, 'One.');
  await untilStatus(account, id, 'completed');
  await post(account, `/${id}/followup`, { prompt: 'More' });
  await serve(bridge, model, 'Two.');
  await untilStatus(account, id, 'completed');
  const fork = async (from: string, ordinal: number, wishes: object) => {
    const body = { responseId: responseIdOf(from, ordinal), ...wishes };
    const made = await call(`conversations/${from}/forks`, { account, body });
    return Object(await made.json()).conversationId;
  };
  const copy = await fork(id, 2, {});
  const restored = await fork(copy, 1, { files: 'restore' });
  const undoing = await bridge.nextCall();
  expect(undoing).toMatchObject({ tool: 'undo_changes', conversationId: restored, worktree: id });
  bridge.succeed(undoing.callId, 'Took back.');
});

it('the model cannot call the tools of worktrees', async () => {
  const { account, bridge, model, id, responseId } = await begin();
  await open(bridge);
  const first = await model.next();
  expect(JSON.stringify(first.request.tools)).not.toContain('worktree');
  first.answer({ calls: [{ name: 'remove_worktree', arguments: {} }] });
  (await model.next()).answer({ text: 'Done.' });
  await close(bridge);
  await untilStatus(account, id, 'completed');
  const response = await call(`chat/completions/${responseId}`, { account });
  expect(JSON.stringify(await response.json())).toContain('UNKNOWN_TOOL');
});

it('a bridge without worktrees is refused, unless the agent works in place', async () => {
  const account = newAccount();
  const { bridgeId } = await connectBridge({ account });
  const refused = await errorOf(await post(account, '', { prompt: 'x', bridgeId }));
  expect(refused).toMatchObject({ status: 409, code: 'WORKTREES_NOT_SUPPORTED' });
  expect(Object(await (await call('conversations', { account })).json()).items).toEqual([]);
  const body = { prompt: 'x', bridgeId, workspace: 'in_place', commit: true };
  expect(await errorOf(await post(account, '', body))).toMatchObject({ code: 'INVALID_REQUEST' });
});

const WISHES = { branch: 'fix', base: 'main', commit: true, mode: 'ask' };

/** A new agent, whose bridge has not served any call yet. */
async function begin(wishes: Readonly<Record<string, unknown>> = {}) {
  const account = newAccount();
  const bridge = await connectBridge({ account, tools: TOOLS });
  const model = holdModel();
  const { id, responseId } = await create(account, { ...wishes, bridgeId: bridge.bridgeId });
  return { account, bridge, model, id, responseId };
}

/** A new agent that was stopped while its model answered. */
async function beginAndStop() {
  const begun = await begin();
  await open(begun.bridge);
  await begun.model.next();
  await post(begun.account, `/${begun.id}/stop`);
  return begun;
}

const TOOLS = [...toolsRunBy('bridge').map(({ name }) => name), ...WORKTREES, 'undo_changes'];

/** Serves a whole run, in which the model says one thing. */
async function serve(bridge: ScriptedBridge, model: HeldModel, text: string): Promise<void> {
  await open(bridge);
  (await model.next()).answer({ text });
  await close(bridge);
}

async function open(bridge: ScriptedBridge): Promise<ToolCall> {
  const opening = await bridge.nextCall();
  bridge.succeed(opening.callId, 'On drawbridge/1 <b>.', OPENED);
  return opening;
}

async function close(bridge: ScriptedBridge): Promise<ToolCall> {
  const closing = await bridge.nextCall();
  bridge.succeed(closing.callId, 'Closed.', CLOSED);
  return closing;
}

/** Returns when the conversation has stored the result. */
async function untilAcked(bridge: ScriptedBridge, callId: string | undefined): Promise<void> {
  while ((await bridge.next('ack')).callId !== callId);
}

/** A crash of all objects cuts the bridge's connection as well. */
async function reconnected(
  account: string,
  bridge: ScriptedBridge,
  isCut: boolean,
): Promise<ScriptedBridge> {
  if (!isCut) return bridge;
  const again = await openBridge({ account, bridgeId: bridge.bridgeId, tools: TOOLS });
  await again.greet();
  return again;
}

function shapeOf({ callId: _, conversationId: __, run: ___, trace: ____, ...rest }: ToolCall) {
  return rest;
}
