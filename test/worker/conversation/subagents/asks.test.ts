import { beforeEach, expect, it } from 'vitest';
import type { ApprovalList } from '../../../../shared/api/listings.ts';
import { newDeviceId } from '../../../../shared/ids.ts';
import type { StreamEvent } from '../../../../shared/wire/events.ts';
import { call } from '../../api.ts';
import type { SseReader } from '../../follow/sse-reader.ts';
import {
  connectBridge,
  NONCE,
  PROPOSAL,
  type ScriptedBridge,
} from '../../tunnel/scripted-bridge.ts';
import { askHeld, readResponse } from '../conversing.ts';
import { holdModel, runCommand } from '../held-model.ts';
import { resultsIn, taskCall } from './tree.ts';

let bridge: ScriptedBridge;

beforeEach(async () => {
  bridge = await connectBridge();
});
const GENERAL = { type: 'generalPurpose' };
const QUESTION = { id: 'q1', prompt: 'Which?', options: [{ id: 'a', label: 'A' }] };
const ONCE = {
  nonce: NONCE,
  decision: 'once',
  signature: { deviceId: newDeviceId(crypto.randomUUID()), value: 'c2ln' },
};

async function asked(reader: SseReader) {
  const events = await reader.until((all) =>
    all.some(({ event }) => event.type === 'subagent_ask'),
  );
  const found = events.map(({ event }) => event).findLast(isAsk);
  if (!found) throw new Error('nothing was asked');
  return found.ask;
}

function isAsk(event: StreamEvent): event is Extract<StreamEvent, { type: 'subagent_ask' }> {
  return event.type === 'subagent_ask';
}

it.each([
  ['a subagent', 1],
  ['a subagent of a subagent', 2],
])(
  'shows an approval of %s to those who follow the root, and takes the answer',
  async (_, depth) => {
    const { model, reader, responseId } = await askHeld({ bridgeId: bridge.bridgeId });
    for (let level = 0; level < depth; level++) {
      (await model.next()).answer({ calls: [taskCall(`level ${level}`, GENERAL)] });
    }
    (await model.next()).answer({ calls: [runCommand('make')] });
    const { callId, conversationId } = await bridge.nextCall();
    bridge.ask(callId);
    const ask = await asked(reader);
    expect(ask).toMatchObject({ kind: 'approval', callId, conversationId, proposal: PROPOSAL });
    expect((await readResponse(responseId)).status).toBe('waiting');
    const { items }: ApprovalList = await (await call('approvals')).json();
    expect(items).toMatchObject([{ callId, conversationId }]);
    const path = `conversations/${conversationId}/approvals/${callId}`;
    const answering = call(path, { body: ONCE });
    expect((await bridge.next('approval')).answer).toMatchObject({ callId, decision: 'once' });
    bridge.resolve(callId);
    expect((await answering).status).toBe(200);
    await reader.untilType('subagent_answered');
    expect((await readResponse(responseId)).status).toBe('streaming');
    bridge.succeed(callId, 'made');
    for (let level = 0; level <= depth; level++) (await model.next()).answer({ text: 'Done.' });
    await reader.toEnd();
    expect((await readResponse(responseId)).status).toBe('completed');
  },
);

it('shows the questions of a subagent to those who follow the root, and takes the answers', async () => {
  const { model, reader, responseId } = await askHeld({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [taskCall('choose', GENERAL)] });
  const questions = { title: 'Before I go on', questions: [QUESTION] };
  (await model.next()).answer({ calls: [{ name: 'ask_question', arguments: questions }] });
  const ask = await asked(reader);
  expect(ask).toMatchObject({ kind: 'clarification', questions: [{ id: 'q1', text: 'Which?' }] });
  const path = `conversations/${ask.conversationId}/clarifications/${ask.documentId}`;
  const body = { answers: [{ questionId: 'q1', optionIds: ['a'] }] };
  expect((await call(path, { body })).status).toBe(200);
  const child = await model.next();
  expect(resultsIn(child.request)[0]).toContain('A (a)');
  child.answer({ text: 'A it is.' });
  (await model.next()).answer({ text: 'Over.' });
  await reader.toEnd();
  const { documents } = await readResponse(responseId);
  expect(documents[0]?.metadata).not.toHaveProperty('asks');
});

it('answers a JSON request once all that is under way waits for a person', async () => {
  const model = holdModel();
  const body = { bridgeId: bridge.bridgeId, messages: [{ role: 'user', content: 'go' }] };
  const answer = call('chat/completions', { body });
  (await model.next()).answer({ calls: [taskCall('make it', GENERAL)] });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  bridge.ask(callId);
  const response = await (await answer).json<{ status: string; documents: unknown[] }>();
  expect(response).toMatchObject({
    status: 'waiting',
    documents: [{ metadata: { subagent: { status: 'waiting' }, asks: [{ callId }] } }],
  });
});
