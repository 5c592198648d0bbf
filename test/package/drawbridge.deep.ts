import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Packed, pack, problemsOf, ROOT } from './pack.ts';

/** A package of more would be no small download. Its largest parts are the command, the Worker and the grammars. */
const MAX_BYTES = 7.3 * 1024 * 1024;

describe('the package', () => {
  let folder: string;
  let packed: Packed;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-package-'));
    packed = await pack(ROOT, folder);
    execFileSync('tar', ['-xf', packed.tarball, '-C', folder]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has only what is needed, and little of it', () => {
    const others = packed.files.filter((file) => !/^(dist\/|docs\/[\w.]+$)/.test(file));
    const launcher = ['drawbridge', 'kept-build', 'own-copy'].map((name) => `bin/${name}.mjs`);
    expect(others).toEqual(['LICENSE', 'README.md', ...launcher, 'package.json']);
    expect(packed.files.filter((file) => /\.ts$|test|bench/.test(file))).toEqual([
      'dist/worker/worker.d.ts',
    ]);
    expect(packed.unpackedSize).toBeLessThan(MAX_BYTES);
  });

  test('has no problem for the tools that check packages', async () => {
    expect(await problemsOf(packed)).toEqual([]);
  });

  test('names the licence of every package that is bundled', () => {
    const text = readFileSync(join(folder, 'package/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const named = [...text.matchAll(/^=+\n(\S+) \S+ \(/gm)].map(([, name]) => name);
    expect(named).toEqual(expect.arrayContaining(['zod', 'hono', 'ws', '@bufbuild/protobuf']));
  });
});
