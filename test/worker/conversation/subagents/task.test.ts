import { expect, it } from 'vitest';
import { chat } from '../../api.ts';
import { connectBridge } from '../../tunnel/scripted-bridge.ts';
import { agentsOf, resultsIn, scriptTree, taskCall, viewOf } from './tree.ts';

it('a task is done by a subagent that knows only its prompt, and whose last message is the result', async () => {
  const { bridgeId } = await connectBridge();
  const requests = scriptTree({
    go: [{ calls: [taskCall('find it')] }, { text: 'Found.' }],
    'find it': [{ text: 'It is in a.ts:7.' }],
  });
  const response = await chat('go', { bridgeId });
  expect(response.status).toBe('completed');
  const [, child, last] = requests;
  expect(child?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(JSON.stringify(child)).toContain('You are a subagent');
  expect(last && resultsIn(last)).toEqual(['It is in a.ts:7.']);
  const [document] = response.documents;
  const state = document?.metadata['subagent'];
  expect(state).toMatchObject({ type: 'explore', status: 'completed', turnCount: 1 });
  expect(document).toMatchObject({
    type: 'tool_call',
    metadata: { toolName: 'task', result: { status: 'success', data: 'It is in a.ts:7.' } },
  });
});

it('a task can be read by the conversation of its subagent, which is in no list', async () => {
  const { bridgeId } = await connectBridge();
  scriptTree({
    go: [{ calls: [taskCall('look')] }, { text: 'Over.' }],
    look: [{ text: 'Seen.' }],
  });
  const { conversationId } = await chat('go', { bridgeId });
  const [agent] = await agentsOf(conversationId);
  const view = await viewOf(agent?.conversationId ?? '');
  expect(view.title).toBe('Do look');
  expect(view).toMatchObject({ bridgeId, parent: conversationId });
  expect(view.messages.map(({ content }) => content)).toEqual(['look']);
  expect(view.responses[0]).toMatchObject({ mode: 'ask', status: 'completed' });
});
