import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { responseIdOf } from '../../shared/ids.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { makeRepository, until } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({ prepare: makeRepository });

it('a fork of an agent restores the files of its worktree, and none of the workspace', async () => {
  const { house } = at;
  const write = (path: string, contents: string) => ({
    calls: [{ name: 'write', arguments: { path, contents } }],
  });
  at.answerWith([
    write('kept.txt', 'one\n'),
    { text: 'First.' },
    write('kept.txt', 'two\n'),
    { text: 'Second.' },
    { text: 'Third.' },
  ]);
  const { id } = await house.client.createAgent({ prompt: 'Write' });
  const ended = async (result: string) => {
    await until(async () => (await house.client.getAgent(id)).result === result);
    return (await house.client.getAgent(id)).worktree?.files;
  };
  await ended('First.');
  await house.client.followUpAgent(id, { prompt: 'Again' });
  await ended('Second.');
  writeFileSync(join(house.workspace, 'kept.txt'), 'two\n');
  const first = responseIdOf(id, 1);
  const fork = await house.client.forkConversation(id, first, { files: 'restore' });
  let restored: ChatResponse | undefined;
  for await (const { event } of house.client.followResponse(fork.responseId ?? '')) {
    if (event.type === 'response_start') restored = newResponse(event.response);
    if (restored) foldEvent(restored, event);
  }
  expect(restored?.documents.at(-1)?.content).toContain('took back changes in kept.txt');
  expect(readFileSync(join(house.workspace, 'kept.txt'), 'utf8')).toBe('two\n');
  rmSync(join(house.workspace, 'kept.txt'));
  await house.client.followUpAgent(id, { prompt: 'Look' });
  expect(await ended('Third.')).toMatchObject([{ path: 'kept.txt', added: 1 }]);
});

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
