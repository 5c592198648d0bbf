/** Packages that are no dependency of ours, in a folder of their own. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface ForeignPackages extends AsyncDisposable {
  readonly folder: string;
  /** The path of a program of one of them. */
  readonly program: (name: string) => string;
}

/** Why tests of such packages cannot run here, for their title. */
export const NO_REGISTRY = await promisify(execFile)('npm', ['view', 'is-number', 'version']).then(
  () => undefined,
  () => 'skipped: no registry answers',
);

/** Installs packages, each as `name@version`, without running their scripts. */
export async function installPackages(packages: readonly string[]): Promise<ForeignPackages> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-interop-'));
  const flags = ['--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'];
  await promisify(execFile)('npm', ['install', ...flags, ...packages], { cwd: folder });
  return {
    folder,
    program: (name) => join(folder, 'node_modules', '.bin', name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
