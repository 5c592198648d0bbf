import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { oneHouse } from './one-house.ts';

const at = oneHouse({
  prepare: (workspace) => {
    const folder = join(workspace, '.drawbridge/modes');
    mkdirSync(folder, { recursive: true });
    const head = '---\nbase: ask\ntools: read_file, switch_mode, write\n---\n';
    writeFileSync(join(folder, 'review.md'), `${head}Look for holes.\n`);
    writeFileSync(join(folder, 'plan.md'), 'mine');
  },
});

const WRITE = { calls: [{ name: 'write', arguments: { path: 'new.txt', contents: 'x\n' } }] };

it.each(['plan', 'ask', 'review'])('nothing is changed in the mode %s', async (mode) => {
  const { house } = at;
  at.answerWith([WRITE, { text: 'I cannot.' }]);
  const response = await house.client.chat({ messages: [{ role: 'user', content: 'go' }], mode });
  expect(response.documents[0]).toMatchObject({
    metadata: { result: { status: 'error', data: expect.stringContaining('mode does not') } },
  });
  expect(existsSync(join(house.workspace, 'new.txt'))).toBe(false);
});

it('a mode of the workspace is listed, narrows, and is left with the consent of another device', async () => {
  const { house } = at;
  at.answerWith([
    { calls: [{ name: 'switch_mode', arguments: { mode: 'agent', reason: 'To write it.' } }] },
    WRITE,
    { text: 'Written.' },
  ]);
  const [bridge] = (await house.client.listBridges()).items;
  const { definitions } = await house.client.getBridge(bridge?.id ?? '');
  expect(definitions.modes).toMatchObject([{ name: 'review', base: 'ask' }]);
  expect(definitions.leftOut).toEqual([
    { path: '.drawbridge/modes/plan.md', reason: 'plan is a built-in mode' },
  ]);
  const request = { messages: [{ role: 'user' as const, content: 'go' }], mode: 'review' };
  const asked = await house.client.chat(request);
  expect(asked).toMatchObject({ status: 'waiting', mode: 'ask', ownMode: 'review' });
  expect(at.requests()[0]?.tools?.map((tool) => tool.function.name)).toEqual([
    ...['read_file', 'switch_mode'],
  ]);
  const answers = [{ questionId: 'switch', optionIds: ['accept'] }];
  await house.client.answerClarification(asked.conversationId, 'doc_001', { answers });
  for await (const { event } of house.client.followResponse(asked.id)) void event;
  const { ownMode, ...done } = await house.client.getResponse(asked.id);
  expect({ ...done, ownMode }).toMatchObject({ status: 'completed', mode: 'agent' });
  expect(ownMode).toBeUndefined();
  expect(existsSync(join(house.workspace, 'new.txt'))).toBe(true);
});
