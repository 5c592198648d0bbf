/** Packs a package of this repository as `npm publish` would, and checks the result as its users' tools do. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';

const run = promisify(execFile);
export const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAMS = join(ROOT, 'node_modules', '.bin');

/** A package as npm reports it. Sizes in bytes. */
export interface Packed {
  readonly tarball: string;
  readonly unpackedSize: number;
  /** Paths in the package, sorted. */
  readonly files: readonly string[];
}

const Report = z.looseObject({
  filename: z.string(),
  unpackedSize: z.number(),
  files: z.array(z.looseObject({ path: z.string() })),
});

/** Builds the package in `folder` and packs it into `target`. */
export async function pack(folder: string, target: string): Promise<Packed> {
  const args = ['pack', '--json', '--silent', '--pack-destination', target];
  const { stdout } = await run('npm', args, { cwd: folder });
  // What `prepack` prints stands before the report: a list, or an object by the packages' names.
  const report: unknown = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)));
  const [packed] = z.array(Report).parse(Object.values(report as object));
  if (!packed) throw new Error('npm packed nothing');
  const files = packed.files.map(({ path }) => path).sort();
  return { tarball: join(target, packed.filename), unpackedSize: packed.unpackedSize, files };
}

/** What publint and "are the types wrong" say of the package: empty if there is no problem. */
export async function problemsOf({ tarball }: Packed): Promise<string[]> {
  const checks = [
    ['publint', tarball, '--strict'],
    // All packages here are modules only, which `require` of Node 20.19 loads as well.
    ['attw', tarball, '--profile', 'esm-only', '--format', 'ascii'],
  ];
  const outcomes = await Promise.all(
    checks.map(async ([program = '', ...args]) => {
      const command = run(process.execPath, [join(PROGRAMS, program), ...args], { cwd: ROOT });
      return await command.then(
        () => [],
        (error) => [`${program}: ${error.stdout}${error.stderr}`],
      );
    }),
  );
  return outcomes.flat();
}
