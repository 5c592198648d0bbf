/** A folder for what a measurement leaves behind. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

/** Its disposal removes it with all that is in it. */
export function openTemporaryFolder(): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-bench-')));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
