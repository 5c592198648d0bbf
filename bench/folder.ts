/** A temporary folder for the files of a measurement. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

/** Disposal removes the folder with its content. */
export function openTemporaryFolder(): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-bench-')));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/**
 * For a bench that root runs: gives the folder and all in it to another user. Only then does a bridge of root's confine
 * commands in it.
 */
export function giveAway(path: string): void {
  if (process.getuid?.() === 0) execFileSync('chown', ['-hR', '1234:1234', path]);
}
