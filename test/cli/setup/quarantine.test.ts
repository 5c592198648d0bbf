import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownCommand } from '../../../cli/terminal/own-command.ts';
import { HeldFolder } from '../../../packages/sandbox/quarantine/held-folder.ts';
import { putAwayWhole } from '../../../packages/sandbox/quarantine/put-away.ts';
import { QuarantineRecord, quarantineFolder } from '../../../packages/sandbox/quarantine/store.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';

/** A place where a command's `.git` was put away, and the command line of it. */
async function quarantinedPlace() {
  const { workspaceDir, stateDir } = newPlace();
  await mkdir(stateDir);
  const record = new QuarantineRecord(quarantineFolder(stateDir), {
    workspace: workspaceDir,
    command: 'git init\u001b[2J\nmore',
  });
  await mkdir(join(workspaceDir, '.git'));
  await writeFile(join(workspaceDir, '.git/config'), '[alias]\n\tst = "!touch ran"\n');
  await using folder = await HeldFolder.open(workspaceDir);
  const putting = {
    record,
    workspace: workspaceDir,
    repositories: new Set<string>(),
    isFlood: false,
    mayClean: true,
  };
  const tools = { git: '/usr/bin/git', samples: undefined };
  await putAwayWhole({ folder, name: '.git' }, { ...putting, tools });
  const location = ['--workspace', workspaceDir, '--state', stateDir];
  return {
    workspaceDir,
    id: record.id,
    run: (...args: string[]) => callDrawbridge(['quarantine', ...args, ...location]),
  };
}

test('quarantine lists, shows and puts back', async () => {
  const { run, id, workspaceDir } = await quarantinedPlace();
  const line = `${id}\\t\\d{4}-\\S+Z\\t1\\tgit init␛\\[2J more\n`;
  expect(await run()).toEqual({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^${line}$`)),
    stderr: '',
  });
  const shown = `${line}  .git\n    .git, all of it\n    alias.st = !touch ran\n`;
  expect(await run('show', id)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^${shown}$`)),
  });
  expect(await run('restore', id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect(await run('restore', id, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^${shown}$`)),
    stderr: '.git is back\n',
  });
  expect(await readFile(join(workspaceDir, '.git/config'), 'utf8')).toContain('touch ran');
  expect(await run()).toEqual({ code: 0, stdout: '', stderr: 'The quarantine is empty.\n' });
});

test('quarantine keeps what has no free place, and removes what is discarded', async () => {
  const { run, id, workspaceDir } = await quarantinedPlace();
  await mkdir(join(workspaceDir, '.git'));
  expect(await run('restore', id, '--yes')).toMatchObject({
    code: 1,
    stderr: '.git stays in quarantine: something else is in its place\n',
  });
  expect(await run('discard', id, '--yes')).toEqual({
    code: 0,
    stdout: expect.stringContaining('  .git\n'),
    stderr: `Removed the quarantine entry ${id}.\n`,
  });
  expect(await run('show', id)).toMatchObject({ code: 2, stderr: expect.stringContaining(id) });
});

test('check says what stops the bridge, and puts it away', async () => {
  const { workspaceDir, stateDir } = newPlace();
  const location = ['--workspace', workspaceDir, '--state', stateDir];
  const check = (...args: string[]) => callDrawbridge(['check', ...args, ...location]);
  expect(await check()).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Nothing in the workspace stops the bridge.\n',
  });
  await mkdir(join(workspaceDir, '.drawbridge'));
  await writeFile(join(workspaceDir, '.drawbridge/policy.json'), 'broken');
  expect(await check()).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^The workspace’s rules are broken.*policy.json is not JSON.*\n$/,
    ),
    stderr: `\`${ownCommand('check', '--repair', ...location)}\` moves what it can into quarantine.\n`,
  });
  expect(await check('--repair')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('It is in quarantine now.'),
  });
  expect(await readdir(join(workspaceDir, '.drawbridge'))).toEqual([]);
});
