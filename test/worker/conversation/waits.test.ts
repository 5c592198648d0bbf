import {
  abortAllDurableObjects,
  env,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ApprovalList } from '../../../shared/api/listings.ts';
import { Account } from '../../../worker/account/object.ts';
import { MIGRATIONS } from '../../../worker/account/statements.ts';
import type { ScriptedCall } from '../../far-ends/reply-script.ts';
import { ask, call } from '../api.ts';
import { olderTables } from '../older-tables.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { askHeld, askStreamed, cancel, conversationObject, newAccount } from './conversing.ts';
import { holdModel, runCommand } from './held-model.ts';
import { taskCall } from './subagents/tree.ts';

/** Another one for each test, so that nothing of the tests before waits. */
let account: string;
/** They are deleted after the test: after a crash, a run that is left would ask the model of a later test. */
let started: string[];

beforeEach(() => {
  account = newAccount();
  started = [];
});
afterEach(async () => {
  for (const conversationId of started) await remove(conversationId);
});

const OPTIONS = ['One', 'Two'].map((label, index) => ({ id: `${index + 1}`, label }));
const ASK: ScriptedCall = {
  name: 'ask_question',
  arguments: { questions: [{ id: 'way', prompt: 'Which?', options: OPTIONS }] },
};
const ASKED = [{ id: 'way', text: 'Which?', options: OPTIONS }];

it('a question of the agent is listed while it waits for a person, beside the calls that wait for approval', async () => {
  const { conversationId, responseId, model, reader } = await startAsking();
  const named = { conversationId, title: 'go', responseId, documentId: 'doc_001' };
  await waitFor([{ ...named, questions: ASKED }]);
  expect((await list()).items).toEqual([]);
  expect((await list('eve')).questions).toEqual([]);
  await answer(conversationId);
  expect((await list()).questions).toEqual([]);
  (await model.next()).answer({ text: 'Two.' });
  await reader.toEnd();
  await expectNoneMarked();
});

it('a question of the agent is listed when it is a change of the mode, and when it is asked anew', async () => {
  const { conversationId, model, reader } = await startAsking({
    asks: { name: 'switch_mode', arguments: { mode: 'plan', reason: 'It is large.' } },
  });
  await waitFor([{ conversationId, questions: [{ options: [{}, {}] }] }]);
  await answer(conversationId, { questionId: 'switch', optionIds: ['reject'] });
  (await model.next()).answer({ calls: [ASK] });
  await waitFor([{ conversationId, documentId: 'doc_002', questions: ASKED }]);
  await answer(conversationId, undefined, 'doc_002');
  (await model.next()).answer({ text: 'Two.' });
  await reader.toEnd();
  await expectNoneMarked();
});

it('a question of the agent is listed where a subagent asks it', async () => {
  const { bridgeId } = await connectBridge({ account });
  const { model, reader, conversationId } = await askHeld({ account, bridgeId });
  (await model.next()).answer({ calls: [taskCall('choose', { type: 'generalPurpose' })] });
  (await model.next()).answer({ calls: [ASK] });
  await waitFor([{ documentId: 'doc_001', questions: ASKED }]);
  const [asked] = (await list()).questions;
  expect(asked?.conversationId).not.toBe(conversationId);
  await answer(asked?.conversationId ?? '');
  (await model.next()).answer({ text: 'Two.' });
  (await model.next()).answer({ text: 'Done.' });
  await reader.toEnd();
  await waitFor([]);
  await expectNoneMarked();
});

it.each<[string, (asking: Asking) => Promise<unknown>]>([
  ['its run is cancelled', ({ responseId }) => cancel(responseId, account)],
  ['the conversation is deleted', ({ conversationId }) => remove(conversationId)],
  ['a message is written instead', ({ conversationId }) => ask('go', { account, conversationId })],
  ['its time is over', ({ conversationId }) => passTime(conversationId, 61_000)],
])('a question of the agent is not listed any more when %s', async (_, end) => {
  const asking = await startAsking();
  await waitFor([{}]);
  void end(asking);
  await waitFor([]);
  await expectNoneMarked();
});

it('a call that waits for approval is listed, in an account that knows of it, and no question', async () => {
  const bridge = await connectBridge({ account });
  const model = holdModel();
  const { conversationId } = await askStreamed({ account, bridgeId: bridge.bridgeId });
  started.push(conversationId);
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  expect([await marked(), await list()]).toEqual([[], { items: [], questions: [] }]);
  bridge.ask(callId);
  await vi.waitFor(async () => expect(await list()).toMatchObject({ items: [{}], questions: [] }));
  expect(await marked()).toEqual([conversationId]);
  bridge.resolve(callId);
  await expectNoneMarked();
  expect((await list()).items).toEqual([]);
});

it('a crash loses no question: the alarm reports it', async () => {
  const lost = loseReports();
  const { conversationId } = await startAsking();
  await vi.waitFor(() => expect(lost).toHaveBeenCalled());
  await abortAllDurableObjects();
  lost.mockRestore();
  expect((await list()).questions).toEqual([]);
  expect(await runDurableObjectAlarm(conversationObject(conversationId))).toBe(true);
  await waitFor([{ conversationId, questions: ASKED }]);
});

it('a crash leaves a question listed, and one that is answered after it is not', async () => {
  const { conversationId, model, reader } = await startAsking();
  await waitFor([{}]);
  await abortAllDurableObjects();
  await waitFor([{ conversationId, questions: ASKED }]);
  await answer(conversationId);
  expect((await list()).questions).toEqual([]);
  (await model.next()).answer({ text: 'Two.' });
  await reader.toEnd();
  await expectNoneMarked();
});

it('a crash leaves the account no conversation that does not wait', async () => {
  const { conversationId, model, reader } = await startAsking();
  await waitFor([{}]);
  const lost = loseReports();
  await answer(conversationId);
  (await model.next()).answer({ text: 'Two.' });
  await reader.toEnd();
  await vi.waitFor(() => expect(lost).toHaveBeenCalled());
  await abortAllDurableObjects();
  lost.mockRestore();
  expect(await marked()).toEqual([conversationId]);
  expect((await list()).questions).toEqual([]);
  expect(await runDurableObjectAlarm(conversationObject(conversationId))).toBe(true);
  await expectNoneMarked();
});

it('an account of a version without marks lists an open question, and marks no other conversation', async () => {
  const { conversationId, model } = await startAsking();
  await waitFor([{}]);
  const { reader, ...other } = await askStreamed({ account });
  started.push(other.conversationId);
  (await model.next()).answer({ text: 'Hi.' });
  await reader.toEnd();
  const makeOlder = await olderTables(MIGRATIONS, 5);
  await runInDurableObject(accountObject(), (_, { storage: { sql } }) => makeOlder(sql));
  await abortAllDurableObjects();
  expect((await list()).questions).toMatchObject([{ conversationId, questions: ASKED }]);
  await vi.waitFor(async () => expect(await marked()).toEqual([conversationId]));
});

type Asking = Awaited<ReturnType<typeof startAsking>>;

async function startAsking({ asks = ASK }: { asks?: ScriptedCall } = {}) {
  const model = holdModel();
  const questions = { afterSeconds: 60, otherwise: 'default' };
  const asked = await askStreamed({ account, questions });
  started.push(asked.conversationId);
  (await model.next()).answer({ calls: [asks] });
  await asked.reader.untilType('clarification_request');
  return { ...asked, model };
}

async function list(of = account): Promise<ApprovalList> {
  return ApprovalList.parse(await (await call('approvals', { account: of })).json());
}

/** The conversation reports to its account after the stream has shown the question. */
async function waitFor(questions: readonly object[]): Promise<void> {
  await vi.waitFor(async () => {
    const found = await list();
    expect(found.questions).toMatchObject(questions);
    expect(found.questions).toHaveLength(questions.length);
  });
}

/** The conversations that the account takes to wait for a person. */
async function marked(): Promise<readonly string[]> {
  return await accountObject().waiting();
}

function accountObject() {
  return env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
}

async function expectNoneMarked(): Promise<void> {
  await vi.waitFor(async () => expect(await marked()).toEqual([]));
}

function loseReports() {
  return vi.spyOn(Account.prototype, 'acts').mockImplementation(() => {
    throw new Error('reset');
  });
}

async function answer(
  conversationId: string,
  one: object = { questionId: 'way', optionIds: ['2'] },
  documentId = 'doc_001',
): Promise<void> {
  const path = `conversations/${conversationId}/clarifications/${documentId}`;
  expect((await call(path, { body: { answers: [one] }, account })).status).toBe(200);
}

function remove(conversationId: string): Promise<Response> {
  return call(`conversations/${conversationId}`, { method: 'DELETE', account });
}

async function passTime(conversationId: string, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  await runDurableObjectAlarm(conversationObject(conversationId));
}
