import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type AccountEvent, signApproval } from '../../client/index.ts';
import { newDeviceId } from '../../shared/ids.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import type { ReadEvent, StreamEvent } from '../../shared/wire/events.ts';
import { deviceOf } from './allowing.ts';
import type { House } from './house.ts';
import { oneHouse } from './one-house.ts';

type Asked = Extract<StreamEvent, { type: 'approval_request' }>;

const command = 'touch made.txt';
const ASK = [
  { tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' },
  { tool: 'run_terminal_cmd', pattern: 'rm *', decision: 'deny' },
  { tool: 'str_replace', pattern: '*', decision: 'ask' },
  { tool: 'write', pattern: '*', decision: 'ask' },
] as const;

const at = oneHouse({ rules: ASK });

beforeEach(() => {
  for (const name of ['made.txt', 'new.txt'])
    rmSync(join(at.house.workspace, name), { force: true });
  writeFileSync(join(at.house.workspace, 'a.txt'), 'two\n');
});

it('runs what a device of this machine has approved, and only with its signature', async () => {
  const asked = await askToRun();
  const { house, request, conversationId } = asked;
  const { callId, nonce, proposal } = request;
  const unsigned = await answer(house, conversationId, callId, { nonce, decision: 'once' });
  expect(unsigned.status).toBe(403);
  expect(await unsigned.json()).toMatchObject({ error: { code: 'APPROVAL_NOT_SIGNED' } });

  const device = deviceOf(house);
  const question = { ...request, conversationId };
  const other = { ...question, proposal: { ...proposal, command: 'true' } as Proposal };
  const wrong = { nonce, decision: 'once', signature: await signApproval(device, other) };
  const refused = await answer(house, conversationId, callId, wrong);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    error: {
      code: 'APPROVAL_REFUSED',
      message: expect.stringContaining('has signed something else'),
    },
  });
  const stranger = { ...device, deviceId: newDeviceId(crypto.randomUUID()) };
  const foreign = { ...wrong, signature: await signApproval(stranger, question) };
  expect((await answer(house, conversationId, callId, foreign)).status).toBe(403);

  const good = { nonce, decision: 'once', signature: await signApproval(device, question) };
  expect((await answer(house, conversationId, callId, good)).status).toBe(200);
  const events = await asked.rest();
  expect(events.find(({ type }) => type === 'approval_resolved')).toMatchObject({
    decision: 'once',
    by: 'device',
  });
  expect(existsSync(join(house.workspace, 'made.txt'))).toBe(true);
  const late = await answer(house, conversationId, callId, { nonce, decision: 'reject' });
  expect(late.status).toBeGreaterThanOrEqual(404);
});

it('asks no more in the conversation, and then nowhere, for as long as a person has said', async () => {
  const first = await askToRun();
  const { house, conversationId } = first;
  const device = deviceOf(house);
  const question = { ...first.request, conversationId };
  expect(question.lasting).toEqual({ pattern: command, always: false });
  const body = { nonce: question.nonce, decision: 'once', scope: 'conversation' };
  const noPattern = await answer(house, conversationId, question.callId, body);
  expect(noPattern.status).toBe(400);
  await house.client.allowCall(question, device, { scope: 'conversation', pattern: command });
  expect((await first.rest()).find(({ type }) => type === 'approval_resolved')).toMatchObject({
    decision: 'once',
    scope: 'conversation',
  });
  expect(await asksAgain(conversationId)).toBe(false);
  const second = await askToRun();
  const again = { ...second.request, conversationId: second.conversationId };
  await house.client.allowCall(again, device, { scope: 'always', pattern: 'touch made*' });
  await second.rest();
  const file = join(house.state, 'policy.json');
  const { rules } = JSON.parse(readFileSync(file, 'utf8'));
  expect(rules.at(-1)).toMatchObject({ pattern: 'touch made*', decision: 'allow' });
  expect(await asksAgain()).toBe(false);
  writeFileSync(file, JSON.stringify({ rules: rules.slice(0, -1) }));
  expect(await asksAgain()).toBe(true);
});

it('sends the model the reason why a person rejected a call', async () => {
  const asked = await askToRun();
  const { house, request, conversationId } = asked;
  const { callId, nonce } = request;
  const rejection = { nonce, decision: 'reject', message: 'not today' };
  await answer(house, conversationId, callId, rejection);
  const events = await asked.rest();
  expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { status: 'error', data: expect.stringContaining('not today') },
  });
  expect(existsSync(join(house.workspace, 'made.txt'))).toBe(false);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed' });
});

it('shows a waiting call to readers that come later', async () => {
  const asked = await askToRun();
  const { house, request, conversationId } = asked;
  const { responses } = await house.client.getConversation(conversationId);
  expect(responses[0]).toMatchObject({ status: 'waiting' });
  expect(responses[0]?.documents[0]?.metadata['approval']).toMatchObject({
    callId: request.callId,
    nonce: request.nonce,
    proposal: { kind: 'command', tool: 'run_terminal_cmd', command, folder: '.' },
  });
  const cancelled = await house.client.cancel(responses[0]?.id ?? '');
  expect(cancelled.status).toBe('cancelled');
  expect((await asked.rest()).at(-1)).toMatchObject({ type: 'done', status: 'cancelled' });
});

it('a client that follows the account learns of a call that waits, of its end, and of a deletion', async () => {
  const { house } = at;
  const leaving = new AbortController();
  const events = house.client.followAccount({ signal: leaving.signal });
  const next = async (isIt: (event: AccountEvent) => boolean) => {
    for (;;) {
      const { value } = await events.next();
      if (value && value.event.type !== 'unknown' && isIt(value.event)) return;
    }
  };
  await next(({ type }) => type === 'reset');
  const asked = await askToRun();
  const { conversationId: id } = asked;
  const waits = (approvals: number) => (event: AccountEvent) =>
    event.type === 'conversation' &&
    event.conversation.id === id &&
    event.conversation.waiting.approvals === approvals;
  await next(waits(1));
  const { items } = await house.client.listApprovals();
  expect(items).toMatchObject([{ conversationId: id, callId: asked.request.callId }]);
  await house.client.rejectCall({ ...asked.request, conversationId: id });
  await next(waits(0));
  await asked.rest();
  await house.client.deleteConversation(id);
  await next((event) => event.type === 'conversation_deleted' && event.conversationId === id);
  leaving.abort();
});

it('asks anew about an edit whose file has changed, and makes what was shown last', async () => {
  const args = { file_path: 'a.txt', old_string: 'two', new_string: '2' };
  const asked = await startTask({ name: 'str_replace', arguments: args });
  const { house, conversationId } = asked;
  const device = deviceOf(house);
  const path = join(house.workspace, 'a.txt');
  const approve = async (event: ReadEvent | undefined) => {
    if (event?.type !== 'approval_request') throw new Error('nothing was asked');
    const { callId, nonce } = event;
    const signature = await signApproval(device, { ...event, conversationId });
    return await answer(house, conversationId, callId, { nonce, decision: 'once', signature });
  };
  writeFileSync(path, 'one\ntwo\n');
  await approve(asked.events.at(-1));
  await asked.readUntil('approval_request');
  expect(asked.events.at(-2)).toMatchObject({
    type: 'approval_resolved',
    decision: 'superseded',
    by: 'drawbridge',
  });
  expect(asked.events.at(-1)).toMatchObject({
    proposal: { kind: 'edit', path: 'a.txt', diff: [{ oldString: 'two', startLine: 2 }] },
    reason: expect.stringContaining('has changed since'),
  });
  await approve(asked.events.at(-1));
  expect((await asked.rest()).at(-1)).toMatchObject({ type: 'done', status: 'completed' });
  expect(readFileSync(path, 'utf8')).toBe('one\n2\n');
});

it('writes what a device has changed, and sends the model the difference', async () => {
  const args = { file_path: 'a.txt', old_string: 'two', new_string: 'deux' };
  const asked = await startTask({ name: 'str_replace', arguments: args });
  const { house, conversationId } = asked;
  const device = deviceOf(house);
  const event = asked.events.at(-1);
  if (event?.type !== 'approval_request') throw new Error('nothing was asked');
  expect(event.newText).toBe('deux\n');
  const { callId, nonce } = event;
  const question = { ...event, conversationId };
  const approve = async (content: string, signed: string) => {
    const signature = await signApproval(device, question, { content: signed });
    const body = { nonce, decision: 'once', content, signature };
    return await answer(house, conversationId, callId, body);
  };
  expect((await approve('evil\n', 'zwei\n')).status).toBe(403);
  const { signature } = { signature: await signApproval(device, question) };
  const bare = { nonce, decision: 'once', content: 'evil\n', signature };
  expect((await answer(house, conversationId, callId, bare)).status).toBe(403);
  const rejection = { nonce, decision: 'reject', content: 'evil\n' };
  expect((await answer(house, conversationId, callId, rejection)).status).toBe(400);
  expect((await approve('zwei\n', 'zwei\n')).status).toBe(200);
  const events = await asked.rest();
  expect(readFileSync(join(house.workspace, 'a.txt'), 'utf8')).toBe('zwei\n');
  expect(events.find(({ type }) => type === 'document_end')).toMatchObject({
    finalContent: 'zwei',
    metadata: { diff: { oldString: 'two', newString: 'zwei' } },
  });
  const [, second] = at.requests();
  const sent = JSON.stringify(second);
  expect(sent).toContain('The person changed your edit before allowing it');
  expect(sent).toContain('-deux\\n+zwei');
});

it('says of a new file what a device made of it', async () => {
  const args = { path: 'new.txt', contents: 'one\n' };
  const asked = await startTask({ name: 'write', arguments: args });
  const { house, conversationId } = asked;
  const event = asked.events.at(-1);
  if (event?.type !== 'approval_request') throw new Error('nothing was asked');
  const { callId, nonce } = event;
  const content = 'eins\nzwei\n';
  const signature = await signApproval(deviceOf(house), { ...event, conversationId }, { content });
  const body = { nonce, decision: 'once', content, signature };
  expect((await answer(house, conversationId, callId, body)).status).toBe(200);
  const end = (await asked.rest()).find(({ type }) => type === 'document_end');
  expect(end).toMatchObject({ finalContent: content, metadata: { operation: 'create' } });
  const { responses } = await house.client.getConversation(conversationId);
  expect(responses.at(-1)?.documents[0]).toMatchObject({ type: 'file_edit', content });
  expect(readFileSync(join(house.workspace, 'new.txt'), 'utf8')).toBe(content);
});

it('never asks about what the owner denies', async () => {
  const args = { command: 'rm a.txt' };
  const asked = await startTask({ name: 'run_terminal_cmd', arguments: args }, 'done');
  const { result } = asked.events.find((event) => event.type === 'tool_result') ?? {};
  expect(result).toMatchObject({
    status: 'error',
    data: expect.stringContaining('deny run_terminal_cmd'),
  });
});

async function askToRun() {
  const asked = await startTask({ name: 'run_terminal_cmd', arguments: { command } });
  const request = asked.events.find((event): event is Asked => event.type === 'approval_request');
  if (!request) throw new Error(`nothing was asked: ${JSON.stringify(asked.events)}`);
  return Object.assign(asked, { request });
}

/** Whether the same command asks once more, in this conversation or a new one. */
async function asksAgain(conversationId?: string): Promise<boolean> {
  const call = { name: 'run_terminal_cmd', arguments: { command } };
  const asked = await startTask(call, 'approval_request', conversationId);
  const last = asked.events.at(-1);
  if (last?.type !== 'approval_request') return false;
  await at.house.client.rejectCall({ ...last, conversationId: asked.conversationId });
  await asked.rest();
  return true;
}

/** A run of this one call, up to the question or its end. */
async function startTask(
  call: { name: string; arguments: Record<string, unknown> },
  end: StreamEvent['type'] = 'approval_request',
  known?: string,
) {
  const { house } = at;
  at.answerWith([{ calls: [call] }, { text: 'Over.' }]);
  const stream = house.client.streamChat({
    messages: [{ role: 'user', content: 'Go' }],
    ...(known !== undefined && { conversationId: known }),
  });
  const events: ReadEvent[] = [];
  let conversationId = '';
  const readUntil = async (type: StreamEvent['type']) => {
    for (let next = await stream.next(); !next.done; next = await stream.next()) {
      const { event } = next.value;
      events.push(event);
      if (event.type === 'response_start') conversationId = event.response.conversationId;
      if (event.type === type) return;
    }
  };
  await readUntil(end);
  return {
    house,
    events,
    conversationId,
    readUntil,
    rest: async () => {
      await readUntil('done');
      return events;
    },
  };
}

function answer(
  house: House,
  conversationId: string,
  callId: string,
  body: object,
): Promise<Response> {
  return house.fetch(`/api/v1/conversations/${conversationId}/approvals/${callId}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
}
