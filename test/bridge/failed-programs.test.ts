/** What the bridge learns from programs that fail. Each of them prints less than an answer, and must not pass for one. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readGitStatus } from '../../bridge/context/git-status.ts';
import { Git } from '../../bridge/worktrees/git.ts';
import { hasChanges } from '../../bridge/worktrees/making.ts';
import { RecordSnapshot } from '../../bridge/worktrees/record.ts';
import { chooseBranch, findBase, findRepository } from '../../bridge/worktrees/repository.ts';
import { psOf } from '../../machine/printed.ts';
import { runRipgrep } from '../../packages/code-index/search/ripgrep.ts';
import { findLine } from '../../packages/code-index/search/text-search.ts';
import { readUser } from '../../packages/sandbox/account.ts';
import { descendants } from '../../packages/sandbox/launch/freeze.ts';
import { judgeConfig } from '../../packages/sandbox/quarantine/git-config.ts';
import type { Launch } from '../../packages/sandbox/terminal/launch.ts';
import { readAuthor } from '../../packages/sandbox/view/git-author.ts';
import { temporaryFolder } from './tools/temporary-workspace.ts';

const { signal } = new AbortController();

/** A program by the script of a shell; where the script is empty, one that may not be run. */
async function program(script: string): Promise<string> {
  const file = join(await temporaryFolder(), 'program');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, script === '' ? 0o644 : 0o755);
  return file;
}

const FAILURES = [
  ['ends with exit code 3', 'exit 3'],
  ['is killed', 'kill -9 $$'],
  ['is killed in the middle of its answer', 'printf "a\\0b:c\\n"; kill -9 $$'],
  ['ends with exit code 3 in the middle of its answer', 'printf "a\\0b:c\\n"; exit 3'],
  ['cannot be started', ''],
] as const;

const repository = { root: '/', prefix: '', common: '/', objects: '/', format: 'sha1' } as const;
const git = (file: string) => new Git({ file, prefix: [] });
const failed = (code: string) => expect.objectContaining({ code });

/** How each is asked, and what comes instead of an answer. */
const ASKERS: Readonly<Record<string, readonly [(file: string) => unknown, unknown]>> = {
  getent: [(file) => readUser(1234, file), expect.any(Error)],
  ps: [async (file) => psOf('state', 1, file), expect.any(Error)],
  'git for the author': [(file) => readAuthor('/', { home: '/', prefix: [file] }), undefined],
  'git for settings': [(file) => judgeConfig(Buffer.from('[core]\n'), file), undefined],
  'git for its status': [
    async (file) => {
      const root = await temporaryFolder();
      const { output } = await git('/usr/bin/git').ask({ cwd: root, args: ['init'], signal });
      expect(output).toContain('Initialized');
      const confine = async (launch: Launch): Promise<Launch> => ({ ...launch, file, args: [] });
      return await readGitStatus(root, signal, { confine });
    },
    undefined,
  ],
  'git for a repository': [
    (file) => findRepository(git(file), '/', signal),
    failed('WORKTREE_FAILED'),
  ],
  'git for a commit': [
    (file) => findBase(git(file), repository, 'main', signal),
    failed('WORKTREE_FAILED'),
  ],
  'git for a free name': [
    (file) =>
      chooseBranch(git(file), repository, { wanted: 'a', conversationId: 'conv_1' }, signal),
    failed('WORKTREE_FAILED'),
  ],
};

describe.each(FAILURES)('a program that %s', (_, script) => {
  test.each(Object.entries(ASKERS))('has not answered: %s', async (_, [ask, instead]) => {
    const file = await program(script);
    const outcome = await Promise.resolve(ask(file)).catch((error: unknown) => error);
    expect(outcome).toEqual(instead);
  });
});

describe('ripgrep that is killed', () => {
  const search = (folder: string, target: string) => {
    const asked = { folder, flags: ['--regexp=x'], target, separator: '\n', rules: [[]] } as const;
    return runRipgrep({ ...asked, signal });
  };
  const kill = () => {
    for (const { pid } of descendants()) {
      if (readFileSync(`/proc/${pid}/comm`, 'utf8') === 'rg\n') process.kill(pid, 'SIGKILL');
    }
  };

  test('has found nothing: the search fails', async () => {
    const folder = await temporaryFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const next = search(folder, './pipe').next();
    const killing = setInterval(kill, 20);
    await expect(next).rejects.toMatchObject({ code: 'SEARCH_FAILED' });
    clearInterval(killing);
  });

  test('has found something: the search fails all the same', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'long'), 'x\n'.repeat(1_000_000));
    const read = async () => {
      // What it has found fills the pipe, so it is still there.
      for await (const _ of search(folder, './long')) kill();
    };
    await expect(read()).rejects.toMatchObject({ code: 'SEARCH_FAILED' });
  });

  test('has not searched a text', async () => {
    const asked = findLine('x'.repeat(20), 'text\n'.repeat(5_000_000), signal);
    kill();
    await expect(asked).rejects.toBeInstanceOf(Error);
  });
});

test('a user without an entry has no home', async () => {
  const none = { name: '1234', home: '/nonexistent' };
  expect(await readUser(1234, await program('exit 2'))).toEqual(none);
  await expect(readUser(1234, await program('printf a:b:c'))).rejects.toThrow('no line');
});

test('a repository without a status may have changes', () => {
  expect([undefined, '## main\n', '## main\n M a\n'].map(hasChanges)).toEqual([true, false, true]);
});

test('a long status of git has each name whole, or is none', async () => {
  const root = await temporaryFolder();
  const asked = git('/usr/bin/git');
  await asked.run({ cwd: root, args: ['init'], signal });
  await mkdir(join(root, 'd'));
  const names = Array.from({ length: 400 }, (_, at) => `d/${String(at).padStart(200, 'x')}`);
  await Promise.all(names.map((name) => writeFile(join(root, name), '')));
  await asked.run({ cwd: root, args: ['add', '.'], signal });
  const seen: string[] = [];
  const mayName = (name: string) => seen.push(name) < 0;
  expect(await readGitStatus(root, signal, { mayName })).toContain('No commits yet');
  expect(seen.filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(seen).size).toBe(names.length);
});

test('files that git cannot read are missed in the work, however much it complains', async () => {
  const root = await temporaryFolder();
  await git('/usr/bin/git').run({ cwd: root, args: ['init'], signal });
  const lines = `i=0; while [ $i -lt 99 ]; do i=$((i+1)); echo "error: unable to index file 'folder/'" >&2; done`;
  const adding = `for word; do [ "$word" = add ] && { ${lines}; exit 1; }; done; exec /usr/bin/git "$@"`;
  const call = { cwd: root, env: { GIT_DIR: join(root, '.git'), GIT_WORK_TREE: root } };
  const snapshot = new RecordSnapshot(
    git(await program(adding)),
    call,
    { prefix: '', createdMs: 0 },
    signal,
  );
  const empty = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  expect((await snapshot.take(empty)).isWhole).toBe(false);
});
