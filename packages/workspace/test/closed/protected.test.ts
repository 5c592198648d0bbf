import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closureOf } from '../../closed/protected.ts';
import { PROTECTED_KINDS } from '../../closed/protected-kinds.ts';

test.each([
  '.devcontainer/devcontainer.json',
  '.exrc',
  '.nvim.lua',
  'sub/.dir-locals.el',
  '.run/all.run.xml',
  'a.code-workspace',
  '.mise.toml',
  'mise.local.toml',
  '.tool-versions',
  '.windsurf/rules/a.md',
  '.kiro/hooks/a.kiro.hook',
  '.roorules-code',
  '.continue/rules/a.md',
  '.clinerules',
  'opencode.json',
  '.aider.model.settings.yml',
  '.github/copilot-instructions.md',
  '.cshrc',
  '.Rprofile',
  '.hg/hgrc',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.lintstagedrc.json',
  '.gdbinit',
  '.tmux.conf',
  '.cargo/config.toml',
  '.mvn/extensions.xml',
])('%s is protected', (path) => {
  expect(closureOf(path)).toBe('protected');
});

test.each([
  'AGENTS.md',
  'CLAUDE.md',
  'Makefile',
  'package.json',
  'Cargo.toml',
  '.github/workflows/ci.yml',
  '.editorconfig',
  '.eslintrc.json',
  '.nvmrc',
  'promise.toml',
  'src/run.ts',
  'src/claude/index.ts',
  'tasks.code-workspace.md',
  'lefthook',
])('%s is not protected', (path) => {
  expect(closureOf(path)).toBeNull();
});

test.each([
  ['a\n.pem', 'secret'],
  ['.env.\n', 'secret'],
  ['.E\u00adnv', 'secret'],
  ['.env. .', 'secret'],
  ['.env.example', null],
  ['lefthook.\n', 'protected'],
  ['.git\n', null],
])('the name %j is %s', (path, closure) => {
  expect(closureOf(path)).toBe(closure);
});

test('each protected name stands once in the table, folded, with one wildcard at most', () => {
  const names = PROTECTED_KINDS.flatMap((kind) => kind.names);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.filter((name) => name !== name.toLowerCase())).toEqual([]);
  const hasMore = (name: string) => name.split('*').length > 2;
  expect(names.filter(hasMore)).toEqual([]);
});

test('docs/security.md lists each kind with its names', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../../docs/security.md'), 'utf8');
  const listed = text
    .slice(text.indexOf('```text\n') + '```text\n'.length)
    .split('```', 1)[0]
    ?.replaceAll('\n  ', ' ')
    .trimEnd();
  const table = PROTECTED_KINDS.map(
    ({ kind, names }) => `${kind[0]?.toUpperCase()}${kind.slice(1)}: ${names.join(' ')}`,
  );
  expect(listed).toBe(table.join('\n'));
});
