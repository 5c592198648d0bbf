import { expect, test } from 'vitest';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { tryMessage } from './generated-message.ts';
import { Shell } from './shell.ts';

keepFoldersInMemory();

/** `test:deep` tries a thousand. */
const MESSAGES = 4;

test(`${MESSAGES} generated messages lose no content of the person by undo, redo and undo`, async () => {
  await using shell = new Shell();
  for (let seed = 1; seed <= MESSAGES; seed++)
    expect(await tryMessage(seed, shell), `seed ${seed}`).toBeUndefined();
});
