import { beforeEach, expect, it, vi } from 'vitest';
import { deep } from '../../depth.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { attack, overruns } from './hostile-edge.ts';

const SEEDS = deep(500);
const FIRST_SEED = 1;

keepFoldersInMemory();

// A process that was killed here still ends its calls, into a journal that is closed.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));

it('a hostile edge starts nothing that was not signed for this one start, whatever it does', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    expect({ seed, overruns: overruns(await attack(seed)) }).toEqual({ seed, overruns: [] });
  }
});
