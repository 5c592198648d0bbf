import { expect, it } from 'vitest';
import { type ChatResponse, ClientError } from '../../../../client/index.ts';
import { CONVERSATION_ID, RESPONSE_ID } from '../../../client/sample-tape.ts';
import { KEYS, openSlot, type SlotOptions } from './opened-slot.ts';

const { enter } = KEYS;

function response(status: ChatResponse['status'], mode: ChatResponse['mode'] = 'plan') {
  const metadata = { title: 'Two files', overview: '', todos: [], format: 'markdown', version: 3 };
  const plan = { id: 'doc_002', type: 'plan', sequence: 1, content: 'Do it.', metadata } as const;
  return {
    id: RESPONSE_ID,
    conversationId: CONVERSATION_ID,
    model: 'demo',
    mode,
    status,
    created: '2026-11-20T12:00:00Z',
    documents: [plan],
    usage: null,
    metadata: { duration_ms: 1, toolCallCount: 0, turnCount: 1 },
  } as ChatResponse;
}

async function openPlan(options: SlotOptions = {}, mode: ChatResponse['mode'] = 'plan') {
  const opened = await openSlot(options);
  const { session, slot, settle } = opened;
  const become = async (current: ChatResponse, isBusy = false) => {
    Object.assign(session, { current, isBusy });
    slot.update();
    await settle();
  };
  await become(response('streaming', mode), true);
  await become(response('completed', mode));
  return { ...opened, become };
}

const PLACE = [CONVERSATION_ID, 'doc_002'];
const SEEN = { responseId: RESPONSE_ID, version: 3 };

it('carries out the plan that the person saw, and goes on in agent mode', async () => {
  const { press, sent, session, screen } = await openPlan();
  expect(await screen()).toMatch(/What to do with the plan\?[\s\S]*Two files[\s\S]*1 Carry it out/);
  await press('1', enter);
  const request = { ...SEEN, mode: 'agent', device: expect.any(String) };
  expect(sent).toEqual([{ type: 'execute', words: [...PLACE, request] }]);
  expect(session.chat.mode).toBe('agent');
});

it('goes on planning with what should be different', async () => {
  const { press, sent, submitted } = await openPlan();
  await press('2', enter, KEYS.escape, '2', enter, ...'smaller', enter);
  expect([submitted, sent]).toEqual([['smaller'], []]);
});

it('saves the plan as a file, or leaves it', async () => {
  const { press, sent } = await openPlan();
  await press('3', enter);
  expect(sent).toEqual([{ type: 'save', words: [...PLACE, SEEN] }]);
  const other = await openPlan();
  await other.press('4', enter);
  expect(other.sent).toEqual([]);
  expect(await other.screen()).not.toContain('plan');
});

it('gives words back that the server does not take', async () => {
  const { press, session, composer, said } = await openPlan();
  session.send = () => Promise.reject(new ClientError('QUEUE_FULL', 'wait', { status: 429 }));
  await press('2', enter, ...'smaller', enter);
  expect([composer.getText(), said.join()]).toEqual([
    'smaller',
    expect.stringContaining('QUEUE_FULL'),
  ]);
});

it('says why a plan was not taken', async () => {
  const refusals = [new ClientError('PLAN_CHANGED', 'there is a newer plan', { status: 409 })];
  const { press, said } = await openPlan({ refusals });
  await press('1', enter);
  expect(said.join()).toContain('PLAN_CHANGED');
});

it('asks nothing about plans of other modes, and of answers that it did not see run', async () => {
  expect(await (await openPlan({}, 'agent')).screen()).not.toContain('plan?');
  const { session, slot, screen } = await openSlot();
  session.current = response('completed');
  slot.update();
  expect(await screen()).not.toContain('plan?');
});

it('asks about a plan whose answer was over before the conversation was read', async () => {
  const { session, slot, screen } = await openSlot();
  session.isBusy = true;
  slot.update();
  session.isBusy = false;
  slot.update();
  session.current = response('completed');
  slot.update();
  expect(await screen()).toContain('What to do with the plan?');
});

it('goes away when another answer begins, and offers no plan again that was put aside', async () => {
  const { become, screen } = await openPlan();
  await become({ ...response('streaming'), id: 'chat_00000000-0000-4000-8000-000000000007' }, true);
  expect(await screen()).not.toContain('plan?');
  const other = await openPlan();
  await other.press(KEYS.escape);
  await other.become(response('completed'));
  expect(await other.screen()).not.toContain('plan?');
});
