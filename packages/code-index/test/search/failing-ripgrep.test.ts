/** A ripgrep that fails prints less than an answer, and must not pass for one. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { freshModules } from '../../../../test/fresh-modules.ts';

const ripgrep = vi.hoisted(() => ({ path: '' }));
vi.mock('@vscode/ripgrep', () => ({
  get rgPath() {
    return ripgrep.path;
  },
}));
freshModules();
const { runRipgrep } = await import('../../search/ripgrep.ts');

const found = 'printf "a:1\\nb:2\\n"';

test.each([
  ['has found nothing', 'exit 1', []],
  ['has found something', `${found}; exit 0`, ['a:1', 'b:2']],
  ['could not read some files', `${found}; exit 2`, ['a:1', 'b:2']],
  ['refuses the pattern', 'echo "regex parse error" >&2; exit 2', 'SEARCH_REFUSED'],
  ['ends with another code', 'exit 3', 'SEARCH_FAILED'],
  ['ends with another code behind records', `${found}; exit 101`, 'SEARCH_FAILED'],
  ['is killed', 'kill -9 $$', 'SEARCH_FAILED'],
  ['is killed behind records', `${found}; kill -9 $$`, 'SEARCH_FAILED'],
  ['may not be run', '', 'SEARCH_FAILED'],
])('one that %s', async (_, script, expected) => {
  const folder = await temporaryFolder();
  ripgrep.path = join(folder, 'rg');
  writeFileSync(ripgrep.path, `#!/bin/sh\n${script}\n`);
  chmodSync(ripgrep.path, script === '' ? 0o644 : 0o755);
  const { signal } = new AbortController();
  const asked = { folder, flags: [], target: './', separator: '\n', rules: [[]], signal } as const;
  const search = async () => {
    const records: string[] = [];
    for await (const some of runRipgrep(asked)) records.push(...some.map(String));
    return records;
  };
  const outcome = await search().catch(({ code }) => code);
  expect(outcome).toEqual(expected);
});
