/** The program as an installed package: any Node that the package supports runs it. A clone hands over to its own Node. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programUrl } from '../bin/own-copy.mjs';
import { openTemporaryFolder } from './folder.ts';

const ROOT = join(import.meta.dirname, '..');

/** Its disposal removes it. */
export interface Installed extends Disposable {
  /** Runs `drawbridge` on the Node. */
  readonly words: readonly [node: string, launcher: string];
  readonly version: string;
}

/** Makes it of the sources of this clone. */
export async function openInstalled(node: string): Promise<Installed> {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const copy = join(dirname(fileURLToPath(await programUrl(ROOT))), '..', '..');
  const folder = openTemporaryFolder();
  for (const part of ['bin', 'dist']) {
    cpSync(join(copy, part), join(folder.path, part), { recursive: true });
  }
  copyFileSync(join(ROOT, 'package.json'), join(folder.path, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  return {
    words: [node, join(folder.path, 'bin', 'drawbridge.mjs')],
    version,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
