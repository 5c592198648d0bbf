import { expect, test } from 'vitest';
import { deep } from '../../depth.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { tryMessage } from './generated-message.ts';
import { Shell } from './shell.ts';

keepFoldersInMemory();

const MESSAGES = deep(1000);

test(`${MESSAGES} generated messages lose no content of the person by undo, redo and undo`, async () => {
  await using shell = new Shell();
  const found = [];
  for (let seed = 1; seed <= MESSAGES; seed++) found.push(await tryMessage(1_000 + seed, shell));
  expect(found.filter((each) => each !== undefined)).toEqual([]);
});
