import { expect, test } from 'vitest';
import { tryMessage } from './generated-message.ts';
import { Shell } from './shell.ts';

test('10 generated messages lose no content of the person by undo, redo and undo', async () => {
  await using shell = new Shell();
  for (let seed = 1; seed <= 10; seed++)
    expect(await tryMessage(seed, shell), `seed ${seed}`).toBeUndefined();
});
