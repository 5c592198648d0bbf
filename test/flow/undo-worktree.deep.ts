import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { makeRepository, until } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({ prepare: makeRepository });

it('what an agent changed in its worktree is taken back there, and its next difference is without it', async () => {
  const { house } = at;
  const write = (path: string) => ({ name: 'write', arguments: { path, contents: 'new\n' } });
  at.answerWith([
    { calls: [write('a.txt')] },
    { text: 'Done.' },
    { calls: [write('b.txt')] },
    { text: 'More.' },
  ]);
  const { id } = await house.client.createAgent({ prompt: 'Write a.txt' });
  const filesAfter = async (result: string) => {
    await until(async () => (await house.client.getAgent(id)).result === result);
    const { worktree } = await house.client.getAgent(id);
    return worktree?.files?.map(({ path }) => path);
  };
  expect(await filesAfter('Done.')).toEqual(['a.txt']);

  let undone: ChatResponse | undefined;
  for await (const { event } of house.client.undo(id)) {
    if (event.type === 'response_start') undone = newResponse(event.response);
    if (undone) foldEvent(undone, event);
  }
  expect(undone?.status).toBe('completed');
  const call = undone?.documents.find(({ metadata }) => metadata['undo'] !== undefined);
  expect(Object(call?.metadata['undo']).files).toEqual([{ path: 'a.txt', action: 'delete' }]);
  expect(existsSync(join(house.workspace, 'a.txt'))).toBe(false);

  await house.client.followUpAgent(id, { prompt: 'Write b.txt' });
  expect(await filesAfter('More.')).toEqual(['b.txt']);
});
