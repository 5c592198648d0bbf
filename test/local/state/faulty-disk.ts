/** A disk that fails at the n-th change that this process makes to it. */
import { createRequire, syncBuiltinESMExports } from 'node:module';

/** `full`: this one write fails. `dead`: nothing reaches the disk from then on, as after SIGKILL. */
export type Fault = 'full' | 'dead';

type Functions = Record<string, (...args: unknown[]) => unknown>;

const WRITES = ['writeFileSync', 'createWriteStream'];
const CHANGES = [...WRITES, 'renameSync', 'linkSync', 'rmSync', 'fsyncSync', 'mkdirSync'];

/** Does the work on such a disk. False if the work made fewer changes. */
export async function onFaultyDisk(
  fault: Fault,
  nth: number,
  work: () => Promise<void>,
): Promise<boolean> {
  const fs = createRequire(import.meta.url)('node:fs');
  let changes = 0;
  const fails = () => {
    changes += 1;
    return changes === nth || (fault === 'dead' && changes > nth);
  };
  const restored = [
    ...(fault === 'dead' ? CHANGES : WRITES).map((name) => wrap(fs, name, fails)),
    ...(fault === 'dead' ? ['rename', 'rm'] : []).map((name) => wrap(fs.promises, name, fails)),
  ];
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const restore of restored) restore();
    syncBuiltinESMExports();
  }
  return changes >= nth;
}

function wrap(owner: Functions, name: string, fails: () => boolean): () => void {
  const real = owner[name];
  if (!real) throw new Error(`there is no ${name}`);
  owner[name] = (...args) => {
    if (!fails()) return real.apply(owner, args);
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  return () => {
    owner[name] = real;
  };
}
