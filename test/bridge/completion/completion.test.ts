import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { Completion } from '../../../bridge/completion/completion.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../tools/temporary-workspace.ts';

interface Policy {
  isAllowed?: (path: string) => boolean;
  open?: readonly string[];
}

function completionOf({ context: { workspace } }: TemporaryWorkspace, policy: Policy = {}) {
  const completion = new Completion({
    workspace,
    readPolicy: async () => policy.isAllowed ?? (() => true),
    readOpen: async () => policy.open ?? [],
    signal: new AbortController().signal,
  });
  return async (query: string, limit = 50) =>
    (await completion.find({ query, limit }))?.map(({ path, type }) => `${type} ${path}`);
}

it('finds files, folders and rules, also hidden ones and rules that git ignores', async () => {
  const place = await temporaryWorkspace({
    '.gitignore': '.cursor\n',
    '.cursor/rules/forms.mdc': '---\nalwaysApply: true\n---\n',
    '.github/workflows/test.yml': '',
    'AGENTS.md': '',
    'src/agents/list.ts': '',
  });
  const find = completionOf(place);
  expect(await find('agents')).toEqual([
    'folder src/agents/',
    'rule AGENTS.md',
    'file src/agents/list.ts',
  ]);
  expect(await find('forms')).toEqual(['rule .cursor/rules/forms.mdc']);
  expect(await find('workflows/t')).toEqual(['file .github/workflows/test.yml']);
});

it('lists nothing that the agent cannot read', async () => {
  const place = await temporaryWorkspace({
    '.gitignore': 'built/\n',
    '.cursorignore': 'closed/\n',
    '.git/config': '',
    '.env': '',
    'built/x.js': '',
    'closed/x.ts': '',
    'denied/x.ts': '',
    'open/x.ts': '',
    'open/id_rsa': '',
  });
  await symlink('/etc', join(place.root, 'link'));
  const find = completionOf(place, { isAllowed: (path) => !path.startsWith('denied') });
  expect([...((await find('')) ?? [])].sort()).toEqual([
    'file .cursorignore',
    'file .gitignore',
    'file open/x.ts',
    'folder open/',
  ]);
});

it('closes at once what the rules close, though it keeps the listing', async () => {
  const place = await temporaryWorkspace({ 'a.ts': '', 'b.ts': '' });
  const policy: Policy = {};
  const find = completionOf(place, policy);
  expect(await find('.ts')).toHaveLength(2);
  policy.isAllowed = (path) => path !== 'a.ts';
  expect(await find('.ts')).toEqual(['file b.ts']);
});

it('leaves out names that hide something or that no message can name', async () => {
  const place = await temporaryWorkspace();
  const names = ['plain.ts', 'with blank.ts', 'größe.ts', '(group)/[id].ts'];
  const hiding = ['\u202egpj.ts', 'a\nb.ts', 'a\u0007.ts', 'quo"te.ts', 'tick`.ts', '\u2066x.ts'];
  for (const name of [...names, ...hiding]) await place.put(name, '');
  const found = await completionOf(place)('.ts');
  expect([...(found ?? [])].sort()).toEqual(names.map((name) => `file ${name}`).sort());
});

it('shows what is open first, then what was changed last, and soon what is new', async () => {
  const place = await temporaryWorkspace({ 'a.ts': '', 'b.ts': '', 'c.ts': '' });
  const find = completionOf(place, { open: ['b.ts'] });
  expect((await find(''))?.[0]).toBe('file b.ts');
  await place.put('new.ts', '');
  await expect.poll(() => find('new')).toEqual(['file new.ts']);
});

it('finds the best among 2,000 generated files, within the limit', async () => {
  const place = await temporaryWorkspace();
  for (let index = 0; index < 2_000; index++) {
    await place.put(`src/${index % 100}/part-${index}.ts`, '');
  }
  await place.put('docs/part.md', '');
  const find = completionOf(place);
  const [best, ...others] = (await find('part', 20)) ?? [];
  expect(best).toBe('file docs/part.md');
  expect(others).toHaveLength(19);
  expect(await find('part-1711')).toEqual(['file src/11/part-1711.ts']);
  expect(await find('47/')).toContain('folder src/47/');
});

it('says that a workspace cannot be listed', async () => {
  const place = await temporaryWorkspace({ 'a.ts': '' });
  const { workspace } = place.context;
  vi.spyOn(console, 'error').mockReturnValue();
  const completion = new Completion({
    workspace,
    readPolicy: async () => {
      throw new Error('the disk is gone');
    },
    readOpen: async () => [],
    signal: new AbortController().signal,
  });
  expect(await completion.find({ query: '', limit: 20 })).toBeNull();
});
