/** Packages that are no dependency of ours, in a folder of their own. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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

/** Of a package that this clone has itself. */
export function versionHere(name: string): string {
  const file = join(import.meta.dirname, '../../node_modules', name, 'package.json');
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

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

/** A clone of a repository that no registry has, which a person has fetched and named in a variable. */
export interface ForeignClone {
  readonly folder: string;
  /** Of its commit where it is a clone, else of nothing. */
  readonly version: string;
  /** Why its tests cannot run here. */
  readonly notRun: string | undefined;
}

/** `file` is one that the repository has. */
export async function foreignClone(
  variable: string,
  repository: string,
  file: string,
): Promise<ForeignClone> {
  const folder = process.env[variable] ?? '';
  const isThere = folder !== '' && existsSync(join(folder, file));
  const commit = promisify(execFile)('git', ['-C', folder, 'rev-parse', '--short', 'HEAD']);
  const version = isThere
    ? await commit.then(
        ({ stdout }) => stdout.trim(),
        () => '',
      )
    : '';
  const notRun = isThere ? undefined : `${variable} names no clone of ${repository}`;
  return { folder, version, notRun };
}
