import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';

function newPolicy() {
  const { workspaceDir, stateDir } = newPlace();
  const config = temporaryFolder();
  const run = (...args: string[]) =>
    callDrawbridge(['policy', ...args, '--workspace', workspaceDir, '--state', stateDir], {
      env: { XDG_CONFIG_HOME: config },
    });
  const rulesIn = (path: string) => JSON.parse(readFileSync(path, 'utf8')).rules;
  const files = {
    project: join(stateDir, 'policy.json'),
    everywhere: join(config, 'drawbridge', 'policy.json'),
  };
  return { run, files, rulesIn };
}

test('rules are added, listed with those for all projects, and revoked by their ids', async () => {
  const { run, files, rulesIn } = newPolicy();
  expect(await run()).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'There is no rule of yours.\n',
  });
  const [own, all] = [
    await run('add', 'allow', 'command', 'npm *'),
    await run('add', 'ask', 'edit', '--everywhere'),
  ];
  expect([own.stdout, all.stdout]).toEqual([
    expect.stringMatching(/^[0-9a-f]{8}\tthis project\tallow\tcommand\tnpm \*\t\n$/),
    expect.stringMatching(/^[0-9a-f]{8}\tall projects\task\tedit\t\*\t\n$/),
  ]);
  expect(rulesIn(files.everywhere)).toEqual([{ tool: 'edit', pattern: '*', decision: 'ask' }]);
  expect((await run('list')).stdout).toBe(all.stdout + own.stdout);
  const [, last] = (await run('list', '--json')).stdout.split('\n');
  const id = own.stdout.slice(0, 8);
  expect(JSON.parse(last ?? '')).toEqual({
    id,
    scope: 'project',
    tool: 'command',
    pattern: 'npm *',
    decision: 'allow',
  });
  expect(await run('revoke', id)).toMatchObject({
    code: 0,
    stderr: `Revoked the rule allow command npm * (${id}).\n`,
  });
  expect(rulesIn(files.project)).toEqual([]);
  expect(await run('revoke', id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`There is no rule ${id}`),
  });
  expect((await run()).stdout).toBe(all.stdout);
});

test.each([
  [['add', 'maybe', 'edit'], /decision: /],
  [['add', 'allow', 'comand'], /the nearest name is command/],
  [['add', 'allow', 'edit', ''], /pattern: /],
])('%j is refused, and nothing is written', async (args, words) => {
  const { run, files } = newPolicy();
  expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(words) });
  expect(() => readFileSync(files.project)).toThrow('ENOENT');
});

test('a rule without an effect is added with a note', async () => {
  const { run } = newPolicy();
  expect((await run('add', 'allow', 'mcp:tickets')).stderr).toContain('it needs "definition"');
});

test('a broken file is reported, and stays', async () => {
  const { run, files } = newPolicy();
  await run('add', 'ask', 'edit');
  writeFileSync(files.project, '{"rules": 7}');
  for (const args of [['list'], ['add', 'ask', 'edit'], ['revoke', '12345678']]) {
    expect(await run(...args)).toMatchObject({ stderr: expect.stringContaining(files.project) });
  }
  expect(readFileSync(files.project, 'utf8')).toBe('{"rules": 7}');
});
