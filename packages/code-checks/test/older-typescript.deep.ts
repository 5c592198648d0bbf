/** TypeScript before version 7 is asked through its language servers, and does not report by itself. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { MINUTE } from '../../../shared/units.ts';
import {
  type ForeignPackages,
  installPackages,
  NO_REGISTRY,
} from '../../../test/interop/foreign-packages.ts';
import { NO_BUBBLEWRAP } from '../../sandbox/test/sandboxed-workspace.ts';
import { lintedWorkspace, MODULES, STRICT_PROJECT } from './linted-workspace.ts';

const skipped = NO_BUBBLEWRAP ?? NO_REGISTRY;

describe.skipIf(skipped).each([
  ['typescript-language-server@5.3.0', /^typescript$/],
  ['@vtsls/language-server@0.3.0', /^vtsls 0/],
])(`TypeScript 5 by %s ${skipped ?? ''}`, (server, name) => {
  let installed: ForeignPackages;
  beforeAll(async () => {
    installed = await installPackages([server, 'typescript@5.9.3']);
  });
  afterAll(() => installed[Symbol.asyncDispose]());
  const linted = (files: Readonly<Record<string, string>>) =>
    lintedWorkspace({ ...STRICT_PROJECT, ...files }, join(installed.folder, 'node_modules'));

  it('an edit is checked with the files that import its own', async () => {
    const place = await linted({
      'a.ts': "import { b } from './lib/b';\nexport const a: number = b;\n",
      'lib/b.ts': 'export const b = 1;\n',
    });
    await place.warm('lib/b.ts');
    expect(await place.replace('lib/b.ts', '1', "'text'")).toMatchObject({
      status: 'success',
      metadata: {
        checked_by: expect.stringMatching(name),
        linter_errors: [{ path: 'a.ts', message: expect.stringMatching(/not assignable/) }],
      },
    });
    expect((await place.warm('a.ts')).data).toContain('not assignable');
    const broken = await place.replace('lib/b.ts', "= 'text'", '= ');
    expect(broken).toMatchObject({ code: 'NEW_ERRORS' });
    await place.put('workspace/lib/b.ts', 'export const b = 2;\n');
    expect((await place.warm('a.ts')).data).toContain('no errors');
  });

  it('what is found is about the present text, whatever came before it', async () => {
    const place = await linted({ 'a.ts': '' });
    const path = join(place.root, 'a.ts');
    const random = new Random(7);
    await place.warm('a.ts');
    for (let round = 0; round < 100; round++) {
      const isWrong = Array.from({ length: random.below(12) }, () => random.chance(0.3));
      const lines = isWrong.map((wrong, at) => `const v${at}${wrong ? ': string' : ''} = ${at};`);
      const text = lines.join(random.pick(['\n', '\r\n'])) + random.pick(['', '\n']);
      const look = await place.servers.look(
        { path, kept: text },
        60_000,
        new AbortController().signal,
      );
      const found = look?.state === 'checked' ? look.findings.map(({ line }) => line) : look;
      expect(found, text).toEqual(isWrong.flatMap((wrong, at) => (wrong ? [at + 1] : [])));
    }
  });
});

it.skipIf(skipped)(
  'a project of TypeScript 5 without a server is checked by the owner’s TypeScript 7',
  async () => {
    vi.stubEnv('PATH', `${join(MODULES, '.bin')}:${process.env['PATH']}`);
    await using installed = await installPackages(['typescript@5.9.3']);
    const files = { ...STRICT_PROJECT, 'a.ts': "export const a: number = 'x';\n" };
    const place = await lintedWorkspace(files, join(installed.folder, 'node_modules'));
    // A server that needs more than its time on a busy machine is started again later.
    await expect
      .poll(async () => (await place.warm('a.ts')).data, { timeout: 5 * MINUTE })
      .toMatch(/typescript-go 7.*\n.*not assignable/);
  },
);
