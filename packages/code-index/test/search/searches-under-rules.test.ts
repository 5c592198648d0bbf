import { rename, symlink } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Policy } from '../../../../bridge/admission/policy.ts';
import { Rule } from '../../../../bridge/admission/rules.ts';
import { visibility } from '../../../../test/bridge/admission/judging.ts';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../../test/bridge/tools/temporary-workspace.ts';
import { keepFoldersInMemory } from '../../../../test/in-memory.ts';

keepFoldersInMemory();

const FILES = {
  'src/a.ts': 'export const visibleTunnel = 1;\n',
  'src/x.private.ts': 'export const veiledTunnel = 1;\n',
  'private/b.ts': 'export const veiledTunnel = 2;\n',
  'private/deep/c.ts': 'export const veiledTunnel = 3;\n',
};

let place: TemporaryWorkspace;
beforeEach(async () => {
  place = await temporaryWorkspace(FILES);
});

const rules = (...decisions: Rule['decision'][]) =>
  decisions.flatMap((decision) =>
    ['private/*', '*.private.ts'].map((pattern) => Rule.parse({ tool: '*', pattern, decision })),
  );

/** The call under the rules, as the bridge runs it once it is let through. */
async function search(tool: string, args: Record<string, unknown>, userRules: Rule[]) {
  const { workspace } = place.context;
  const policy: Policy = {
    workspace: place.root,
    isConfined: true,
    userRules,
    workspaceRules: [],
  };
  const shown = visibility({ tool, arguments: args, mode: 'agent' }, policy);
  if (!shown) throw new Error('a search without a path');
  return await place.call(tool, args, { workspace: workspace.showing(shown.mayShow) });
}

const SEARCHES: [string, Record<string, unknown>][] = [
  ['grep', { pattern: 'Tunnel', output_mode: 'content' }],
  ['grep', { pattern: 'Tunnel', output_mode: 'files_with_matches' }],
  ['grep', { pattern: 'Tunnel', output_mode: 'count' }],
  ['grep', { pattern: 'Tunnel', output_mode: 'content', glob: '*.ts' }],
  ['grep', { pattern: 'Tunnel', output_mode: 'content', '-C': 3, multiline: true }],
  ['glob_file_search', { glob_pattern: '*.ts', target_directory: '.' }],
  ['glob_file_search', { glob_pattern: 'private/**', target_directory: '.' }],
  ['list_dir', { target_directory: 'src' }],
  ['list_dir', { target_directory: '.' }],
  ['codebase_search', { query: 'where is the tunnel?', target_directories: [] }],
];

describe.each(['deny', 'ask'] as const)('under rules that %s some paths', (decision) => {
  test.each(SEARCHES)('%s %j shows and names none of them', async (tool, args) => {
    const without = await search(tool, args, []);
    const under = await search(tool, args, rules(decision));
    expect(without.data).toMatch(/private/);
    expect(under).toMatchObject({ status: 'success' });
    expect(under.data).not.toMatch(/private|veiled/);
  });
});

test('a file of its own is shown without a rule about it', async () => {
  const { data } = await search('grep', { pattern: 'Tunnel' }, rules('deny'));
  expect(data).toContain('visibleTunnel');
});

test('what the person was asked about is shown', async () => {
  const args = { pattern: 'Tunnel', path: 'private' };
  const { data } = await search('grep', args, rules('ask'));
  expect(data).toMatch(/private\/b\.ts[\s\S]*private\/deep\/c\.ts/);
});

test('a folder is counted without them', async () => {
  const { data } = await search('list_dir', { target_directory: '.' }, rules('deny'));
  expect(data.split('\n')[0]).toBe('src/ (1 file)');
});

test('a link to them is no way around', async () => {
  await symlink('private', place.path('link'));
  const { data } = await search('grep', { pattern: 'Tunnel', path: 'link' }, rules('deny'));
  expect(data).not.toMatch(/veiled/);
});

test('a path that leads there by the time it is read is refused', async () => {
  const rulesOnPrivate = rules('deny');
  const read = { target_file: 'src/a.ts' };
  const before = await search('read_file', read, rulesOnPrivate);
  await rename(place.path('src'), place.path('was'));
  await symlink('private', place.path('src'));
  await place.put('private/a.ts', 'veiled');
  const after = await search('read_file', read, rulesOnPrivate);
  expect([before, after]).toMatchObject([
    { status: 'success' },
    { status: 'error', code: 'DENIED' },
  ]);
});
