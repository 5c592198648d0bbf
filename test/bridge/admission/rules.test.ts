import { execFileSync } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseRules, readRules } from '../../../bridge/admission/rules.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

test('a file of rules is read in its order, and a rule without a pattern is for everything', async () => {
  const path = join(await temporaryFolder(), 'policy.json');
  const rules = [
    { tool: 'run_terminal_cmd', pattern: 'git push*', decision: 'deny' },
    { tool: 'write', decision: 'ask' },
  ];
  await writeFile(path, JSON.stringify({ rules }));
  expect(await readRules(path)).toEqual([
    rules[0],
    { tool: 'write', pattern: '*', decision: 'ask' },
  ]);
});

test('no file is no rules', async () => {
  expect(await readRules(join(await temporaryFolder(), 'policy.json'))).toEqual([]);
});

test.each([
  ['{"rules":', 'p.json is not JSON.'],
  ['[]', 'p.json is not a file of rules: '],
  ['{"rules":[{"tool":"write","decision":"maybe"}]}', 'rules[0].decision: '],
  ['{"rules":[{"tool":"write","decision":"ask","patern":"x"}]}', 'rules[0]: '],
  ['{"rules":[{"decision":"ask"}]}', 'rules[0].tool: '],
])('a file that is wrong is an error which says where: %s', (json, message) => {
  expect(() => parseRules(json, 'p.json')).toThrow(message);
});

test('a pipe or a device in the place of the file is an error, and nobody waits for it', async () => {
  const folder = await temporaryFolder();
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await symlink('/dev/zero', join(folder, 'zero'));
  for (const name of ['pipe', 'zero']) {
    await expect(readRules(join(folder, name))).rejects.toThrow('not a regular file');
  }
});
