/** A ps that fails, where a system has no /proc: no process counts as gone, and no list as whole. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { freshModules } from '../fresh-modules.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';

const ps = vi.hoisted(() => ({ path: '/bin/ps' }));
vi.mock('../../machine/printed.ts', async (original) => {
  const real = await original<typeof import('../../machine/printed.ts')>();
  const printedAtOnceBy: typeof real.printedAtOnceBy = ([, ...args], how) =>
    real.printedAtOnceBy([ps.path, ...args], how);
  const psOf: typeof real.psOf = (column, pid) => real.psOf(column, pid, ps.path);
  return { ...real, printedAtOnceBy, psOf };
});
freshModules();
const { childrenOf } = await import('../../local/backup/pause.ts');
const { isLocked, takeLock } = await import('../../machine/lock.ts');

beforeEach(() => {
  const { platform } = process;
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
});

function psDoes(script: string): void {
  ps.path = join(temporaryFolder(), 'ps');
  writeFileSync(ps.path, `#!/bin/sh\n${script}\n`);
  chmodSync(ps.path, script === '' ? 0o644 : 0o755);
}

const FAILURES = [
  ['ends with exit code 3', 'exit 3'],
  ['is killed', 'kill -9 $$'],
  ['is killed in the middle of its answer', 'echo "1 1"; kill -9 $$'],
  ['may not be run', ''],
] as const;

test.each(FAILURES)(
  'where ps %s, a lock stays with its holder, and nobody takes one',
  (_, script) => {
    const path = join(temporaryFolder(), 'lock');
    psDoes('echo "Sun Nov 29 10:00:00 2026"');
    const lock = takeLock(path);
    expect([lock.isTaken, isLocked(path)]).toEqual([true, true]);
    psDoes(script);
    expect(isLocked(path)).toBe(true);
    expect(() => takeLock(path)).toThrow();
    psDoes('echo "Sun Nov 29 10:00:00 2026"');
    expect(isLocked(path)).toBe(true);
    psDoes('exit 1');
    expect(isLocked(path)).toBe(false);
  },
);

test.each(FAILURES)('where ps %s, no process is known to have no children', (_, script) => {
  psDoes(script);
  expect(() => childrenOf(1)).toThrow();
  psDoes('printf " 7 1\\n 8 7\\n 9 1\\n"');
  expect(childrenOf(1)).toEqual([7, 9]);
});
