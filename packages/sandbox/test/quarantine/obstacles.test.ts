import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRules } from '../../../../bridge/admission/rules.ts';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { findObstacles } from '../../quarantine/obstacles.ts';
import { listRecords } from '../../quarantine/store.ts';

/** A workspace, its state folder, and what a check finds. */
async function newPlace(files: Readonly<Record<string, string>> = {}) {
  const { root, put } = await temporaryWorkspace(files);
  const stateDir = join(root, '../state');
  await mkdir(stateDir);
  const check = async (mayMove: boolean) => {
    const examined = { workspace: root, stateDir, configDir: join(root, '../config'), readRules };
    const found = await findObstacles(examined, { mayMove });
    return found.map(({ sentence, isPutAway }) => `${isPutAway ? 'away' : 'open'}: ${sentence}`);
  };
  return { root, stateDir, put, check };
}

test('a workspace without obstacles has none', async () => {
  const { check, root } = await newPlace({
    '.drawbridge/policy.json': '{"rules":[]}',
    'a.key': '',
    'a/.gitignore': 'x',
  });
  await symlink('a.key', join(root, 'b.key'));
  expect(await check(true)).toEqual([]);
});

test('each obstacle is reported in a sentence, and put into quarantine when asked to', async () => {
  const { check, root, stateDir } = await newPlace({ '.drawbridge/policy.json': '{"rules":[' });
  await symlink('/bin/bash', join(root, 'a.key'));
  await mkdir(join(root, 'a'));
  execFileSync('mkfifo', [join(root, 'a/.gitignore')]);
  const long = 'd'.repeat(250);
  const script = `for i in $(seq 20); do mkdir ${long}; cd ${long}; done`;
  execFileSync('bash', ['-c', script], { cwd: join(root, 'a') });
  const expected = (state: string) => [
    expect.stringMatching(new RegExp(`^${state}: The workspace’s rules are broken.*policy.json`)),
    expect.stringMatching(
      new RegExp(`^${state}: a.key has the name of a secret and leads to the program .*bash`),
    ),
    expect.stringMatching(new RegExp(`^${state}: a/.gitignore is a pipe`)),
    expect.stringMatching(new RegExp(`^${state}: a/d.*has a path of more than 4095 bytes`)),
  ];
  const sorted = (found: readonly string[]) =>
    [...found].sort(
      (a, b) => ORDER.findIndex((x) => a.includes(x)) - ORDER.findIndex((x) => b.includes(x)),
    );
  expect(sorted(await check(false))).toEqual(expected('open'));
  expect(sorted(await check(true))).toEqual(expected('away'));
  expect(await check(true)).toEqual([]);
  expect(await readdir(root)).toEqual(['.drawbridge', 'a']);
  expect(listRecords(stateDir).records[0]?.items).toHaveLength(4);
});

const ORDER = ['The workspace', 'a.key', '.gitignore', 'has a path'];

test('rules that are no file are put away with their folder, the owner’s own are only reported', async () => {
  const { check, root, stateDir } = await newPlace();
  await symlink('.drawbridge', join(root, '.drawbridge'));
  await writeFile(join(stateDir, 'policy.json'), 'broken');
  await mkdir(join(root, '../config'));
  await writeFile(join(root, '../config/policy.json'), 'broken');
  expect(await check(true)).toEqual([
    expect.stringMatching(/^open: Your own rules are broken.*state.policy.json/),
    expect.stringMatching(/^open: Your own rules are broken.*config.policy.json/),
    expect.stringMatching(/^away: The workspace’s rules are broken/),
  ]);
  expect(await readdir(root)).toEqual([]);
});

test('names are shown escaped', async () => {
  const { check, root } = await newPlace();
  await mkdir(Buffer.concat([Buffer.from(`${root}/\n\x1b[2J`), Buffer.from([0xff])]));
  const name = Buffer.concat([
    Buffer.from(`${root}/\n\x1b[2J`),
    Buffer.from([0xff]),
    Buffer.from('/x.key'),
  ]);
  await symlink('/bin/bash', name);
  expect(await check(false)).toEqual([expect.stringContaining('\\u{a}\\u{1b}[2J\\xff/x.key')]);
});
