/** The sources of the repository, without tests. A new folder belongs to them at once. */
import { globSync } from 'node:fs';
import { join } from 'node:path';

/** Paths from the root of the repository. */
export function sourceFiles(): string[] {
  const exclude = ['**/dist', 'node_modules', 'test', 'packages/*/test', 'doors/test'];
  return globSync('*/**/*.{ts,tsx}', { cwd: join(import.meta.dirname, '..'), exclude });
}
