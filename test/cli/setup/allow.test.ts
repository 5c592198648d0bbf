import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Audit } from '../../../bridge/grantees/audit.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';

function machine() {
  const { workspaceDir, stateDir } = newPlace();
  const run = (...args: string[]) =>
    callDrawbridge([...args, '--workspace', workspaceDir, '--state', stateDir]);
  const grants = () => JSON.parse(readFileSync(join(stateDir, 'grants.json'), 'utf8')).grants;
  return { run, grants, stateDir };
}

test('accounts are allowed, listed with their last call, changed and disallowed', async () => {
  const { run, grants, stateDir } = machine();
  expect(await run('allow')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'No other account may use this folder.\n',
  });
  const ben = await run('allow', 'ben');
  expect(ben.stdout).toMatch(/^ben\tread-only\tthe folder\t20\S+Z\tnever\n$/);
  expect(ben.stderr).toContain('It may read this folder.');
  await run('allow', 'app:shop', '--preset', 'workspace', '--worktrees');
  await run('allow', 'ben', '--preset', 'workspace');
  const since = expect.any(String);
  expect(grants()).toEqual([
    { name: 'app:shop', preset: 'workspace', worktrees: true, since },
    { name: 'ben', preset: 'workspace', since },
  ]);
  const call = { conversation: 'conv', call: 'call', tool: 'grep', outcome: 'success' };
  new Audit(stateDir).note({ type: 'call', account: 'app:shop:42', ...call });
  const [shop, other] = (await run('allow')).stdout.split('\n');
  expect(shop).toMatch(/^app:shop\tworkspace\tworktrees\t20\S+Z\t20\S+Z$/);
  expect(other).toMatch(/^ben\tworkspace\tthe folder\t20\S+Z\tnever$/);
  const [json] = (await run('allow', '--json')).stdout.split('\n');
  expect(JSON.parse(json ?? '')).toMatchObject({ name: 'app:shop', used: since });
  expect(await run('disallow', 'ben')).toMatchObject({ code: 0 });
  expect(grants()).toHaveLength(1);
  expect(await run('disallow', 'ben')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^drawbridge: There is no allowed account ben: `.*allow` lists them\.\n$/,
    ),
  });
});

test.each(['b en', '', 'ben\u202e', '\u3164', 'x'.repeat(300), 'app:', 'app:Shop', 'app:*'])(
  'the name %j is refused, and nothing is written',
  async (name) => {
    const { run } = machine();
    expect(await run('allow', name)).toMatchObject({ code: 2, stdout: '' });
    expect((await run('allow')).stdout).toBe('');
  },
);

test('a damaged file of grants is reported, and stays as it is', async () => {
  const { run, stateDir } = machine();
  await run('allow', 'ben');
  writeFileSync(join(stateDir, 'grants.json'), '{"grants": "all"}');
  for (const command of [['allow', 'cleo'], ['disallow', 'ben'], ['allow']]) {
    const { code, stderr } = await run(...command);
    expect(code).not.toBe(0);
    expect(stderr).toContain('is no file of grants: grants');
  }
  expect(readFileSync(join(stateDir, 'grants.json'), 'utf8')).toBe('{"grants": "all"}');
});

test('the record is printed for people and for programs, and no word of it breaks a line', async () => {
  const { run, stateDir } = machine();
  expect((await run('audit')).stderr).toBe('There is no record.\n');
  await run('allow', 'ben');
  const audit = new Audit(stateDir);
  const about = { conversation: 'conv_1', call: 'call_1' };
  const subject = 'echo \u001b[2J\nben  write  success';
  audit.note({ ...about, type: 'call', account: 'ben', tool: 'bash', subject, outcome: 'DENIED' });
  audit.note({
    ...about,
    type: 'answer',
    tool: 'write',
    decision: 'once',
    by: 'device',
    nonce: 'n',
  });
  const [call, answer, ...rest] = (await run('audit')).stdout.split('\n');
  expect(call).toMatch(/conv_1 {2}ben {2}bash {2}DENIED {2}"echo \\u001b\[2J\\nben/);
  expect(answer).toMatch(/conv_1 {2}answer by device {2}write {2}once$/);
  expect(rest).toEqual(['']);
  const records = (await run('audit', '--json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records).toMatchObject([{ subject }, { nonce: 'n' }]);
});
