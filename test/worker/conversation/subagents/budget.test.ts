import { expect, it } from 'vitest';
import { TASK_LIMITS } from '../../../../worker/conversation/subagents/limits.ts';
import { chat } from '../../api.ts';
import { configure } from '../../settings.ts';
import { connectBridge } from '../../tunnel/scripted-bridge.ts';
import { agentsOf, resultsIn, scriptTree, taskCall, viewOf } from './tree.ts';

/** The scripted model counts 11 tokens in and 7 out. */
const TURN_TOKENS = 18;

it('gives each subagent a share of what is left, and counts what they spent', async () => {
  const { bridgeId } = await connectBridge();
  const budget = { maxTokens: 300 + TURN_TOKENS, maxTurns: 31 };
  scriptTree({
    go: [{ calls: [taskCall('a'), taskCall('b')] }, { text: 'Over.' }],
    a: [{ text: 'A.' }],
    b: [{ text: 'B.' }],
  });
  const response = await chat('go', { bridgeId, budget });
  for (const { conversationId = '' } of await agentsOf(response.conversationId)) {
    const [own] = (await viewOf(conversationId)).responses;
    expect(own?.metadata.budget?.limits).toEqual({ maxTokens: 100, maxTurns: 10 });
    expect(own?.usage?.totalTokens).toBe(TURN_TOKENS);
  }
  expect(response.usage?.totalTokens).toBe(4 * TURN_TOKENS);
  expect(response.metadata.budget?.spent).toMatchObject({ tokens: 4 * TURN_TOKENS, turns: 4 });
});

it('divides a budget of cost, too', async () => {
  const prices = { input: 1_000, output: 10_000 };
  configure({ MODELS: [{ id: 'main', prices }] });
  const { bridgeId } = await connectBridge();
  scriptTree({ go: [{ calls: [taskCall('a')] }, { text: 'Over.' }], a: [{ text: 'A.' }] });
  // Each answer costs 0.081: 11 tokens at 0.001 and 7 at 0.01.
  const response = await chat('go', { bridgeId, model: 'main', budget: { maxCost: 1.081 } });
  const [agent] = await agentsOf(response.conversationId);
  const [own] = (await viewOf(agent?.conversationId ?? '')).responses;
  expect(own?.metadata.budget?.limits).toMatchObject({
    maxCost: { amount: expect.closeTo(0.5), currency: 'USD' },
  });
  expect(response.metadata.budget?.spent.cost?.amount).toBeCloseTo(3 * 0.081);
});

it('ends a subagent at its share; the answer goes on with what it had said', async () => {
  const { bridgeId } = await connectBridge();
  const again = { text: 'Going on.', calls: [{ name: 'todo_write', arguments: {} }] };
  const requests = scriptTree({
    go: [{ calls: [taskCall('long', { type: 'generalPurpose' })] }, { text: 'Cut short.' }],
    long: Array.from({ length: 9 }, () => again),
  });
  const response = await chat('go', { bridgeId, budget: { maxTurns: 7 } });
  const last = requests.at(-1);
  expect(last && resultsIn(last)[0]).toContain('budget');
  expect(last && resultsIn(last)[0]).toContain('Going on.');
  expect(requests).toHaveLength(1 + 3 + 1);
  expect(response).toMatchObject({
    status: 'completed',
    metadata: { budget: { spent: { turns: 5 } } },
  });
});

it('starts none where a share would be nothing', async () => {
  const { bridgeId } = await connectBridge();
  const requests = scriptTree({
    go: [{ calls: [taskCall('a'), taskCall('b')] }, { text: 'Alone, then.' }],
  });
  const response = await chat('go', { bridgeId, budget: { maxTurns: 3 } });
  expect(requests).toHaveLength(2);
  expect(response.documents.filter(({ type }) => type === 'error')).toHaveLength(2);
  expect(response.status).toBe('completed');
});

it('has a limit of turns without any budget', async () => {
  const { bridgeId } = await connectBridge();
  scriptTree({ go: [{ calls: [taskCall('a')] }, { text: 'Over.' }], a: [{ text: 'A.' }] });
  const { conversationId } = await chat('go', { bridgeId });
  const [agent] = await agentsOf(conversationId);
  const [own] = (await viewOf(agent?.conversationId ?? '')).responses;
  expect(own?.metadata.budget?.limits).toEqual({ maxTurns: TASK_LIMITS.maxTurns });
});

it('counts subagents of subagents for all above them', async () => {
  const { bridgeId } = await connectBridge();
  scriptTree({
    go: [{ calls: [taskCall('a', { type: 'generalPurpose' })] }, { text: 'Over.' }],
    a: [{ calls: [taskCall('b')] }, { text: 'A.' }],
    b: [{ text: 'B.' }],
  });
  const response = await chat('go', { bridgeId, budget: { maxTurns: 40 } });
  expect(response.usage?.totalTokens).toBe(5 * TURN_TOKENS);
  expect(response.metadata.budget?.spent.turns).toBe(5);
  expect(response.documents[0]?.metadata['subagent']).toMatchObject({ turnCount: 3 });
});
