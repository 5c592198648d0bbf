import { lstat, writeFile } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { guardedWorkspace } from './guarded-workspace.ts';

/** A program that leaves a file in the workspace when it runs. */
const OWNED = '"$PWD/owned.sh"';
const PROGRAM = 'printf "#!/bin/sh\\ntouch \\"$PWD/ran\\"\\n" > owned.sh; chmod +x owned.sh';
const INIT = 'git init -q new';
const COMMIT =
  'git -C new -c user.name=T -c user.email=t@example.com commit -q --allow-empty -m first';

/** What a command can leave in a repository of its own, and what of it may not be there afterwards. */
const ATTACKS: readonly (readonly [title: string, command: string, away: readonly string[]])[] = [
  ['a setting', `${INIT}; git -C new config core.fsmonitor ${OWNED}`, ['new/.git/config']],
  ['an alias', `${INIT}; git -C new config alias.st '!touch ran'`, ['new/.git/config']],
  [
    'a filter',
    `${INIT}; git -C new config filter.x.clean ${OWNED}; echo '* filter=x' > new/.git/info/attributes; echo a > new/a`,
    ['new/.git/config'],
  ],
  [
    'an included file',
    `${INIT}; git config -f new/more core.fsmonitor ${OWNED}; git -C new config include.path ../more`,
    ['new/.git/config'],
  ],
  [
    'a setting of a worktree',
    `${INIT}; git -C new config extensions.worktreeConfig true; git config -f new/.git/config.worktree core.fsmonitor ${OWNED}`,
    ['new/.git/config', 'new/.git/config.worktree'],
  ],
  [
    'a configuration that git cannot read',
    `${INIT}; echo '[' >> new/.git/config`,
    ['new/.git/config'],
  ],
  [
    'a hook',
    `${INIT}; cp owned.sh new/.git/hooks/post-index-change`,
    ['new/.git/hooks/post-index-change'],
  ],
  [
    'a changed sample of a hook',
    `${INIT}; cp owned.sh new/.git/hooks/pre-commit.sample`,
    ['new/.git/hooks/pre-commit.sample'],
  ],
  [
    'a folder of hooks that is a link',
    `${INIT}; rm -rf new/.git/hooks; mkdir h; ln -s ../../h new/.git/hooks`,
    ['new/.git/hooks'],
  ],
  [
    'another folder that git shares with it',
    `${INIT}; cp -r new/.git evil; git config -f evil/config core.fsmonitor ${OWNED}; echo ../../evil > new/.git/commondir`,
    ['evil/config', 'new/.git/commondir'],
  ],
  [
    'a rebase in the middle',
    `${INIT}; mkdir new/.git/rebase-merge; echo 'exec touch ran' > new/.git/rebase-merge/git-rebase-todo`,
    ['new/.git/rebase-merge'],
  ],
  [
    'a log that is a link to what a shell runs',
    `${INIT}; ${COMMIT}; rm new/.git/logs/HEAD; ln -s /home/.profile new/.git/logs/HEAD`,
    ['new/.git/logs/HEAD'],
  ],
  [
    'an address that is a program',
    `${INIT}; git -C new config remote.origin.url 'ext::sh -c touch% ran'`,
    ['new/.git/config'],
  ],
  [
    'an address in the workspace, whose hooks a push would run',
    `git init -q --bare bare; cp owned.sh bare/hooks/pre-receive; ${INIT}; git -C new remote add origin "$PWD/bare"`,
    ['bare/hooks', 'new/.git/config'],
  ],
  [
    'a working tree elsewhere',
    `${INIT}; git -C new config core.worktree /home`,
    ['new/.git/config'],
  ],
  [
    'a submodule with a setting',
    `${INIT}; git init -q new/sub; mkdir -p new/.git/modules; mv new/sub/.git new/.git/modules/sub; echo 'gitdir: ../.git/modules/sub' > new/sub/.git; git config -f new/.git/modules/sub/config core.fsmonitor ${OWNED}`,
    ['new/.git/modules/sub/config'],
  ],
  [
    'a worktree with a configuration of its own',
    `${INIT}; ${COMMIT}; git -C new worktree add -q ../tree; cp -r new/.git evil; git config -f evil/config core.fsmonitor ${OWNED}; echo "$PWD/evil" > new/.git/worktrees/tree/commondir`,
    ['evil/config', 'evil/worktrees/tree/commondir', 'new/.git/worktrees/tree/commondir'],
  ],
  [
    'a file that leads to a folder of the command',
    `${INIT}; mv new/.git prepared; git config -f prepared/config core.fsmonitor ${OWNED}; echo 'gitdir: ../prepared' > new/.git`,
    ['new/.git', 'prepared/config'],
  ],
  [
    'a link to a folder of the command',
    `${INIT}; mv new/.git prepared; git config -f prepared/config core.fsmonitor ${OWNED}; ln -s ../prepared new/.git`,
    ['new/.git', 'prepared/config'],
  ],
  ['a pipe', 'mkdir new; mkfifo new/.git', ['new/.git']],
  [
    'a file that leads into a repository in a folder of packages',
    `${INIT}; mkdir -p node_modules/x/.git/modules; mv new/.git node_modules/x/.git/modules/m; git config -f node_modules/x/.git/modules/m/config core.fsmonitor ${OWNED}; echo 'gitdir: ../node_modules/x/.git/modules/m' > new/.git`,
    ['node_modules/x/.git/modules/m/config'],
  ],
  [
    'a repository that its command has closed',
    `${INIT}; git -C new config core.fsmonitor ${OWNED}; chmod 0 new/.git/config; chmod 0 new/.git`,
    ['new/.git/config'],
  ],
];

describe.skipIf(NO_BUBBLEWRAP)(`a repository that a command makes ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each(ATTACKS)('starts nothing by %s', async (_, attack, away) => {
    const { run, git, place, quarantined, reported } = await guardedWorkspace({
      withRepository: false,
    });
    const { attention, data } = await run(`${PROGRAM}; ${attack}`);
    await git('new', 'status');
    await git('new', 'add', '.');
    await git('new', '-c', 'user.name=T', '-c', 'user.email=t@x', 'commit', '-m', 'by a person');
    await git('new', 'push', 'origin', 'HEAD');
    await git('new', 'rebase', '--continue');
    expect(await place.text('workspace/ran')).toBeUndefined();
    expect(quarantined()).toEqual([...away].sort());
    const [item] = attention.filter(({ quarantined: isAway }) => isAway);
    expect(item).toMatchObject({
      name: expect.stringMatching(/^(new|node_modules|evil|bare|prepared)/),
      quarantined: true,
    });
    expect(reported.join('\n')).toContain(`${item?.name} is new`);
    expect(data).toContain(`${item?.name} is new`);
  });

  test('can be used by the person when it was cleaned', async () => {
    const { run, git } = await guardedWorkspace({ withRepository: false });
    await run(
      `${INIT}; ${COMMIT}; git -C new config core.pager 'touch ran'; git -C new config user.name "A \\"B\\" # C"; git -C new remote add origin https://example.com/a.git`,
    );
    expect({
      log: await git('new', 'log', '--format=%s'),
      name: await git('new', 'config', 'user.name'),
      url: await git('new', 'remote', 'get-url', 'origin'),
      pager: await git('new', 'config', '--local', 'core.pager'),
    }).toEqual({
      log: 'first\n',
      name: 'A "B" # C\n',
      url: 'https://example.com/a.git\n',
      pager: '',
    });
  });

  test('stays as it is where nothing in it starts anything', async () => {
    const { run, place, quarantined } = await guardedWorkspace();
    const { attention } = await run(
      `${INIT}; ${COMMIT}; git -C new worktree add -q ../tree; cat new/.git/config > shown`,
    );
    expect(attention).toEqual([
      { name: 'new/.git', quarantined: false, what: [] },
      { name: 'tree/.git', quarantined: false, what: [] },
    ]);
    expect(await place.text('workspace/new/.git/config')).toBe(await place.text('workspace/shown'));
    expect(quarantined()).toEqual([]);
  });

  test('is reported once, and what the person makes between commands is theirs', async () => {
    const { run, git, place, quarantined } = await guardedWorkspace();
    await run(INIT);
    await git('.', 'init', '-q', 'own');
    await git('own', 'config', 'core.pager', 'less');
    expect((await run('true')).attention).toEqual([]);
    expect(await place.text('workspace/own/.git/config')).toContain('less');
    expect(quarantined()).toEqual([]);
  });

  test('goes as a whole while a command runs that could change it back', async () => {
    const { run, place, quarantined, background, guard, reported } = await guardedWorkspace({
      withRepository: false,
    });
    const job =
      'until [ -e go ]; do sleep 0.05; done; git init -q late; git -C late config core.fsmonitor x; echo > made; sleep 60';
    await run(job, { is_background: true });
    const during = await run('git init -q new');
    expect(during.attention).toMatchObject([{ name: 'new/.git', quarantined: true }]);
    await run('touch go; until [ -e made ]; do sleep 0.05; done');
    const next = await run('true');
    await background.endAll();
    await guard.close();
    expect(quarantined()).toEqual(['late/.git', 'new/.git']);
    await expect(lstat(place.path('workspace/late/.git'))).rejects.toThrow('ENOENT');
    expect(next.attention).toEqual([]);
    expect(reported.join('\n')).toContain('core.fsmonitor = x');
  });

  test('a repository is looked for once more at the end of a command in the background', async () => {
    const { run, quarantined, root, reported } = await guardedWorkspace();
    const late = 'git init -q late; git -C late config core.fsmonitor x';
    await run(`until [ -e go ]; do sleep 0.02; done; ${late}`, { is_background: true });
    await writeFile(`${root}/go`, '');
    await vi.waitFor(() => expect(quarantined()).toEqual(['late/.git/config']));
    const { attention } = await run('true');
    expect(attention).toMatchObject([{ name: 'late/.git', quarantined: true }]);
    expect(reported).toHaveLength(1);
  });

  test.each([['.idea/a'], ['.ssh']])(
    'is found in a folder that is closed itself: %s',
    async (folder) => {
      const { run, quarantined } = await guardedWorkspace();
      await run(`mkdir -p ${folder}; git init -q ${folder}; git -C ${folder} config core.pager x`);
      expect(quarantined()).toEqual([`${folder}/.git/config`]);
    },
  );

  test('is put away however many there are', async () => {
    const { run, place } = await guardedWorkspace();
    const { attention } = await run('for i in $(seq 120); do mkdir -p m/$i/.git; done');
    expect(attention).toHaveLength(21);
    expect(attention.at(-1)).toMatchObject({ name: '100 more', quarantined: true });
    const left = await Promise.all([1, 60, 120].map((i) => place.text(`workspace/m/${i}/.git`)));
    expect(left).toEqual([undefined, undefined, undefined]);
  });
});
