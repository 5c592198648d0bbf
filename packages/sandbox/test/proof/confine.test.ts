import { expect, onTestFinished, test, vi } from 'vitest';
import { freshModules } from '../../../../test/fresh-modules.ts';
import { freshWorkspace, NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';

const group = vi.hoisted(() => ({ left: 0 }));
vi.mock('../../launch/memory-group.ts', () => ({
  shareMemoryGroup: async () => ({ bytes: 2 ** 30, [Symbol.dispose]: () => void group.left++ }),
}));
freshModules();
const { probeConfinement } = await import('../../proof/confine.ts');

test.skipIf(NO_BUBBLEWRAP)(
  'a bridge that does not confine leaves the memory group of its neighbours once',
  async () => {
    const { surroundings } = await freshWorkspace();
    using first = await probeConfinement(surroundings);
    const second = await probeConfinement(surroundings);
    second[Symbol.dispose]();
    expect([first.kind, second.kind, group.left]).toEqual(['bubblewrap', 'none', 1]);
  },
);

test.skipIf(NO_BUBBLEWRAP)(
  'on macOS a sandbox that fails its self-test confines nothing',
  async () => {
    const { surroundings } = await freshWorkspace();
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    onTestFinished(() => platform.mockRestore());
    const { kind, detail } = await probeConfinement(surroundings);
    // The runtime itself finds Linux.
    expect([kind, detail]).toEqual([
      'none',
      expect.stringMatching(
        /^The sandbox could not be tested: .*\(sandbox-runtime made a sandbox of/,
      ),
    ]);
  },
);
