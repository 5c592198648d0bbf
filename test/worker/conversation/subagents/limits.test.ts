import { expect, it } from 'vitest';
import { task } from '../../../../shared/tools/task.ts';
import type { ChatResponse } from '../../../../shared/wire/documents.ts';
import { TASK_LIMITS } from '../../../../worker/conversation/subagents/limits.ts';
import { chat } from '../../api.ts';
import { connectBridge } from '../../tunnel/scripted-bridge.ts';
import { askHeld, expectUsable, readResponse } from '../conversing.ts';
import { resultsIn, scriptTree, type Turns, taskCall, taskOf } from './tree.ts';

it('lets four subagents work at once, and starts the others in order', async () => {
  const { bridgeId } = await connectBridge();
  const { model, reader, responseId } = await askHeld({ bridgeId });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  (await model.next()).answer({ calls: names.map((name) => taskCall(name)) });
  const first = [await model.next(), await model.next(), await model.next(), await model.next()];
  expect(first.map(({ request }) => taskOf(request)).sort()).toEqual(['a', 'b', 'c', 'd']);
  expect(model.count).toBe(1 + TASK_LIMITS.maxAtOnce);
  first[0]?.answer({ text: 'One.' });
  const fifth = await model.next();
  expect(taskOf(fifth.request)).toBe('e');
  first[1]?.answer({ text: 'Two.' });
  const sixth = await model.next();
  expect(taskOf(sixth.request)).toBe('f');
  for (const reply of [fifth, sixth, first[2], first[3]]) reply?.answer({ text: 'More.' });
  (await model.next()).answer({ text: 'All done.' });
  await reader.toEnd();
  expect((await readResponse(responseId)).status).toBe('completed');
});

it('ends a subagent that starts subagents without end: two levels below the root there is no task', async () => {
  const { bridgeId } = await connectBridge();
  const again = (name: string): Turns => [
    { calls: [taskCall(`${name}.`, { type: 'generalPurpose' })] },
    { text: `Tried ${name}.` },
  ];
  const requests = scriptTree({
    go: again('x'),
    'x.': again('x.'),
    'x..': again('x..'),
    'x...': again('x...'),
  });
  const response = await chat('go', { bridgeId });
  expect(response.status).toBe('completed');
  const offers = requests.map(({ tools = [] }) => tools.map((tool) => tool.function.name));
  const offering = requests.filter((_, index) => offers[index]?.includes('task')).map(taskOf);
  expect([...new Set(offering)].sort()).toEqual(['go', 'x.']);
  expect(requests.map(taskOf)).not.toContain('x...');
  const refused = requests.filter((request) => taskOf(request) === 'x..').at(-1);
  expect(refused && resultsIn(refused)).toEqual([expect.stringContaining('not on offer')]);
  await expectUsable(response.conversationId);
});

it.each([
  ['explore', TASK_LIMITS.maxInTree],
  ['generalPurpose', 18],
])('starts so many subagents of the type %s as its description says: %i', async (type, most) => {
  const { bridgeId } = await connectBridge();
  const names = Array.from({ length: TASK_LIMITS.maxInTree + 2 }, (_, index) => `n${index}`);
  const requests = scriptTree({
    go: [{ calls: names.map((name) => taskCall(name, { type })) }, { text: 'Over.' }],
    ...Object.fromEntries(names.map((name) => [name, [{ text: `Did ${name}.` }]])),
  });
  const response = await chat('go', { bridgeId });
  const results = requests.at(-1);
  const refused = (results ? resultsIn(results) : []).filter((text) =>
    /as many/.test(String(text)),
  );
  expect(requests.length - 2).toBe(most);
  expect(refused).toHaveLength(names.length - most);
  expect(task.description).toMatch(new RegExp(`\\b${most}\\b`));
  expect(response.status).toBe('completed');
});

it.each([
  [
    'for a type that does not exist',
    { type: 'wizard' },
    'use generalPurpose, explore, browser-use',
  ],
  ['for a browser that is not configured', { type: 'browser-use' }, 'mcp add playwright'],
])('a task is refused, and the model gets what to do, %s', async (_, more, words) => {
  const { bridgeId } = await connectBridge();
  const requests = scriptTree({
    go: [{ calls: [taskCall('try', more)] }, { text: 'Then not.' }],
  });
  const response = await chat('go', { bridgeId });
  expect(requests.at(-1) && resultsIn(requests.at(-1) as never)[0]).toContain(words);
  expect(codesIn(response)).toEqual([expect.stringMatching(/INVALID_ARGUMENTS|NOT_CONFIGURED/)]);
});

it('is not on offer without a machine', async () => {
  const requests = scriptTree({ go: [{ text: 'Alone.' }] });
  const response = await chat('go', { tools: ['task'], account: 'none' });
  expect(requests[0]?.tools ?? []).toEqual([]);
  expect(response.metadata.unavailableTools).toMatchObject([{ name: 'task', code: 'NO_BRIDGE' }]);
});

function codesIn({ documents }: ChatResponse): unknown[] {
  return documents.filter(({ type }) => type === 'error').map((it) => it.metadata['errorCode']);
}
