/** A real folder for one test, gone after it. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export function temporaryFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-test-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
