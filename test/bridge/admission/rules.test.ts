import { execFileSync } from 'node:child_process';
import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseRules, readOwnersRules, readRules } from '../../../bridge/admission/rules.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

test('a file of rules is read in its order, and a rule without a pattern is for everything', async () => {
  const path = join(await temporaryFolder(), 'policy.json');
  const rules = [
    { tool: 'run_terminal_cmd', pattern: 'git push*', decision: 'deny' },
    { tool: 'write', decision: 'ask' },
  ];
  await writeFile(path, JSON.stringify({ rules }));
  expect(await readRules(path)).toEqual({
    rules: [rules[0], { tool: 'write', pattern: '*', decision: 'ask' }],
    trustsNetwork: false,
  });
});

test('no file is no rules', async () => {
  expect(await readRules(join(await temporaryFolder(), 'policy.json'))).toEqual({
    rules: [],
    trustsNetwork: false,
  });
});

test("the owner's usual preset holds where a file names none", async () => {
  const path = join(await temporaryFolder(), 'policy.json');
  const ask = parseRules('{"preset":"ask"}', path);
  expect(await readRules(path, 'ask')).toEqual(ask);
  await writeFile(path, '{"rules":[]}');
  expect(await readRules(path, 'ask')).toEqual(ask);
  await writeFile(path, '{"preset":"trusted"}');
  expect(await readRules(path, 'ask')).toEqual({ rules: [], trustsNetwork: true });
});

test('the rules for all projects come before those of the project, and its preset wins', async () => {
  const folder = await temporaryFolder();
  const files = { project: join(folder, 'own.json'), everywhere: join(folder, 'all.json') };
  const rule = (tool: string) => ({ tool, pattern: '*', decision: 'ask' }) as const;
  await writeFile(files.everywhere, JSON.stringify({ preset: 'trusted', rules: [rule('edit')] }));
  const shared = { rules: [rule('edit')], trustsNetwork: true };
  expect(await readOwnersRules(files, 'ask')).toEqual(shared);
  await writeFile(files.project, JSON.stringify({ rules: [rule('web')] }));
  expect(await readOwnersRules(files)).toEqual({ ...shared, rules: [rule('edit'), rule('web')] });
  await writeFile(files.project, JSON.stringify({ preset: 'workspace', rules: [rule('web')] }));
  expect(await readOwnersRules(files)).toMatchObject({ trustsNetwork: false });
  await chmod(files.everywhere, 0o666);
  await expect(readOwnersRules(files)).rejects.toThrow('Every user may change');
  expect(await readOwnersRules({ ...files, everywhere: undefined })).toMatchObject({
    rules: [rule('web')],
  });
});

test.each([
  ['{"rules":', 'p.json is not JSON.'],
  ['[]', 'p.json is not a file of rules: '],
  ['{"rules":[{"tool":"write","decision":"maybe"}]}', 'rules[0].decision: '],
  ['{"rules":[{"tool":"write","decision":"ask","patern":"x"}]}', 'rules[0].patern: '],
  ['{"rules":[{"decision":"ask"}]}', 'rules[0].tool: '],
  ['{}', 'p.json is not a file of rules: '],
  ['{"preset":"readonly"}', 'preset: '],
])('a file that is wrong is an error which says where: %s', (json, message) => {
  expect(() => parseRules(json, 'p.json')).toThrow(message);
});

test.each([
  ['run_terminal', 'run_terminal_cmd'],
  ['Edit', 'edit'],
  ['Shel', 'Shell'],
  ['comand', 'command'],
  ['run_terminal*x', 'run_terminal_cmd'],
])('a rule for %s, which is no tool, is an error that names %s', (tool, nearest) => {
  const json = JSON.stringify({ rules: [{ tool, decision: 'deny' }] });
  expect(() => parseRules(json, 'p.json')).toThrow(
    `rules[0].tool: there is no tool or category named ${tool}; the nearest name is ${nearest}`,
  );
});

test('a rule for a tool of the server is an error that says so', () => {
  const json = '{"rules":[{"tool":"TodoWrite","decision":"deny"}]}';
  expect(() => parseRules(json, 'p.json')).toThrow('TodoWrite touches no machine');
});

test('a name that is long or holds control characters is shown shortened and escaped', () => {
  const tool = `\u001b[2J${'x'.repeat(10_000)}`;
  const json = JSON.stringify({ rules: [{ tool, decision: 'deny' }] });
  expect(() => parseRules(json, 'p.json')).toThrow(/^[^\p{Cc}]{1,400}$/u);
});

test.each([
  '*',
  'read',
  'edit',
  'command',
  'web',
  'mcp:github',
  'mcp:*',
  'mcp_github_create_issue',
  'mcp*',
  'Shell',
  'gr?p',
  '*_file',
])('a rule may name %s', (tool) => {
  const json = JSON.stringify({ rules: [{ tool, decision: 'deny' }] });
  expect(parseRules(json, 'p.json').rules).toHaveLength(1);
});

test('the rules of a file come after those of its preset, so they win', () => {
  const json = '{"preset":"ask","rules":[{"tool":"write","pattern":"notes/*","decision":"allow"}]}';
  expect(parseRules(json, 'p.json').rules.map(({ tool, decision }) => [tool, decision])).toEqual([
    ['edit', 'ask'],
    ['command', 'ask'],
    ['web', 'ask'],
    ['network', 'ask'],
    ['mcp:*', 'ask'],
    ['write', 'allow'],
  ]);
});

test('a pipe or a device in the place of the file is an error without a wait', async () => {
  const folder = await temporaryFolder();
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await symlink('/dev/zero', join(folder, 'zero'));
  for (const name of ['pipe', 'zero']) {
    await expect(readRules(join(folder, name))).rejects.toThrow('not a regular file');
  }
});
