import { beforeEach, expect, it, vi } from 'vitest';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { attack, overruns } from './hostile-edge.ts';

/** `test:deep` runs five hundred. */
const SEEDS = 5;

keepFoldersInMemory();

// A process that was killed here still ends its calls, into a journal that is closed.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));

it('a hostile edge starts nothing that was not signed for this one start', async () => {
  let started = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const attacked = await attack(seed);
    expect({ seed, overruns: overruns(attacked) }).toEqual({ seed, overruns: [] });
    started += attacked.started.length;
  }
  // How many get so far is a matter of time; none would mean that nothing was attacked.
  expect(started).toBeGreaterThan(SEEDS / 4);
});
