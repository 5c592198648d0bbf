/** Commands and tools make folders that programs of the person would obey. */
import { mkdir, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { looksLikeRepository } from '../../../workspace/closed/protected.ts';
import { NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { guardedWorkspace } from './guarded-workspace.ts';

const CONFIG =
  '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "touch ../ran; false"\\n';
const RUNS = `printf '${CONFIG}' >`;
const EMPTY = 'mkdir -p x/objects x/refs; echo ref: refs/heads/a > x/HEAD';

const LOOK_ALIKES: readonly [string, string, string][] = [
  ['with settings', `${EMPTY}; ${RUNS} x/config`, 'x/config'],
  ['made from its settings on', `mkdir x; ${RUNS} x/config; ${EMPTY}`, 'x/config'],
  [
    'with settings elsewhere',
    `mkdir -p y/objects y/refs x; ${RUNS} y/config; echo ../y > x/commondir; echo ref: refs/heads/a > x/HEAD`,
    'x/commondir',
  ],
  [
    'with hooks',
    `${EMPTY}; mkdir x/hooks; echo "touch ../ran" > x/hooks/post-index-change; chmod +x x/hooks/*`,
    'x/hooks',
  ],
  ['moved into its place', `${EMPTY.replaceAll('x/', 'z/')}; ${RUNS} z/config; mv z x`, 'x/config'],
  ['in a folder that cannot be listed', `${EMPTY}; ${RUNS} x/config; chmod 311 x`, 'x/config'],
];

describe.skipIf(NO_BUBBLEWRAP)(
  `a folder that looks like a repository ${NO_BUBBLEWRAP ?? ''}`,
  () => {
    test.each(LOOK_ALIKES)(
      '%s runs nothing at the person’s git status',
      async (_, command, name) => {
        const before = await guardedWorkspace();
        await before.place.put('workspace/x/keep', '');
        // The attack works where the guard does not look.
        await before.place.attempt(command.replaceAll('x/', 'w/').replaceAll(' x', ' w'));
        await before.git('w', 'status');
        const isMade = (await before.place.text('workspace/ran')) !== undefined;
        expect(isMade || name !== 'x/config').toBe(true);
        const { run, git, place, quarantined } = await guardedWorkspace();
        const { attention } = await run(command);
        expect(attention).toContainEqual(expect.objectContaining({ name, quarantined: true }));
        expect(quarantined()).toContain(name);
        await git('x', 'status');
        expect(await place.text('workspace/ran')).toBeUndefined();
      },
    );

    test('stays where git itself has made it, and is closed to the next command', async () => {
      const { run } = await guardedWorkspace();
      const made = await run('git init -q --bare remote.git');
      expect(made.attention.filter(({ quarantined }) => quarantined)).toEqual([]);
      const { output } = await run(
        'git config -f remote.git/config core.fsmonitor ./run 2>/dev/null; git config -f remote.git/config core.fsmonitor; ' +
          'touch remote.git/refs/made && echo writable',
      );
      expect(output).toBe('writable\n');
    });

    test('is put away where only its last file is new', async () => {
      const { run, place, attention } = await personsHalf();
      expect(attention).toEqual([]);
      const made = await run('mkdir x/objects');
      expect(made.attention).toContainEqual(
        expect.objectContaining({ name: 'x/config', quarantined: true }),
      );
      expect(await place.text('workspace/x/HEAD')).toBe('ref: refs/heads/a\n');
    });
  },
);

async function personsHalf() {
  const workspace = await guardedWorkspace();
  const { run } = workspace;
  const { attention } = await run(
    `mkdir -p x/refs; echo ref: refs/heads/a > x/HEAD; ${RUNS} x/config`,
  );
  return { ...workspace, attention };
}

test('no order of file tools’ writes makes one', async () => {
  const place = await temporaryWorkspace();
  const parts = ['HEAD', 'objects/a', 'refs/a', 'config', 'commondir', 'hooks/pre-commit'];
  const namesOf = (paths: readonly string[]) =>
    new Set(paths.map((path) => path.split('/')[0] ?? ''));
  let refused = 0;
  // All that writes can lead to, and from there each other write: what came in which order is the same to the tools.
  for (const there of subsetsOf(parts)) {
    if (looksLikeRepository(namesOf(there))) continue;
    for (const part of parts.filter((other) => !there.includes(other))) {
      for (const path of there) await place.put(`x/${path}`, 'x');
      const result = await place.call('write', { path: `x/${part}`, contents: 'x' });
      if (looksLikeRepository(namesOf([...there, part]))) {
        expect(result).toMatchObject({ code: 'PROTECTED_PATH' });
        refused++;
      }
      await rm(join(place.root, 'x'), { recursive: true, force: true });
    }
  }
  expect(refused).toBeGreaterThan(10);
});

test('a rename does not complete one, and one that is there is closed to tools', async () => {
  const place = await temporaryWorkspace({
    'x/refs/a': '',
    'x/objects/a': '',
    'x/config': '',
    b: '',
  });
  const rename = { target_file: 'b', new_path: 'x/HEAD' };
  expect(await place.call('rename_file', rename)).toMatchObject({ code: 'PROTECTED_PATH' });
  await place.put('x/HEAD', '');
  await mkdir(join(place.root, 'x/hooks'));
  for (const path of ['x/config', 'x/hooks/a', 'x/commondir', 'x/HEAD', 'x/refs/b']) {
    const result = await place.call('write', { path, contents: 'x' });
    expect([path, result]).toEqual([path, expect.objectContaining({ code: 'PROTECTED_PATH' })]);
  }
  const other = await place.call('write', { path: 'x/readme.md', contents: 'x' });
  expect(other).toMatchObject({ status: 'success' });
});

function subsetsOf([first, ...others]: readonly string[]): string[][] {
  if (first === undefined) return [[]];
  return subsetsOf(others).flatMap((some) => [some, [first, ...some]]);
}

describe.skipIf(NO_BUBBLEWRAP)('a folder that cannot be listed', () => {
  test.each(['311', '000', '111', '300'])('of mode %s hides no repository', async (mode) => {
    const { run, git, place } = await guardedWorkspace();
    const { attention } = await run(
      'mkdir -p a/b/c; git init -q a/b/c; git -C a/b/c config core.fsmonitor "touch ../../../ran; false"; ' +
        `chmod ${mode} a/b a`,
    );
    expect(attention).toContainEqual(expect.objectContaining({ name: 'a', quarantined: false }));
    expect(attention).toContainEqual(
      expect.objectContaining({ name: 'a/b/c/.git', quarantined: true }),
    );
    await git('a/b/c', 'status');
    expect(await place.text('workspace/ran')).toBeUndefined();
  });

  test('stays as it is where it was the person’s', async () => {
    const { run, place } = await guardedWorkspace({
      before: async (at) => {
        await at.put('workspace/a/b', '');
        await at.attempt('chmod 311 a');
      },
    });
    expect((await run('touch c')).attention).toEqual([]);
    expect((await run('chmod 700 a; mkdir a/.vscode; chmod 311 a')).attention).toEqual([]);
    expect((await stat(place.path('workspace/a'))).mode & 0o777).toBe(0o311);
  });
});

describe.skipIf(NO_BUBBLEWRAP)('what an agent of the person would obey', () => {
  test.each([
    ['.claude', 'mkdir .claude; echo "{}" > .claude/settings.json'],
    ['.codex', 'mkdir .codex; echo > .codex/config.toml'],
    ['a/.cursor', 'mkdir -p a/.cursor/rules; echo > a/.cursor/hooks.json'],
    ['.gemini', 'mkdir .gemini; ln -s ../x .gemini/settings.json'],
    ['.github/hooks', 'mkdir -p .github/hooks; echo "{}" > .github/hooks/a.json'],
    ['.claude-plugin', 'mkdir .claude-plugin; echo "{}" > .claude-plugin/plugin.json'],
    ...['.claude', '.cursor', '.codex', 'a/.gemini', '.github/hooks'].map((name) => [
      name,
      `mkdir -p evil ${dirname(name)}; echo H > evil/settings.json; ln -s "$PWD/evil" ${name}`,
    ]),
    ['.kiro', 'mkfifo .kiro'],
    ['.pi', 'mkdir -p .pi/extensions; echo > .pi/extensions/a.ts'],
    ['a/.qoder', 'mkdir -p a/.qoder; echo "{}" > a/.qoder/settings.json'],
    ['.github', 'mkdir -p gh/hooks; echo H > gh/hooks/h.json; ln -s gh .github'],
    ['a/.GitHub', 'mkdir -p a gh/hooks; echo H > gh/hooks/h.json; ln -s ../gh a/.GitHub'],
  ])('is put away where a command makes it: %s', async (name, command) => {
    const { run, quarantined } = await guardedWorkspace();
    const { attention } = await run(command);
    expect(attention).toEqual([{ name, quarantined: true, what: [`${name}, all of it`] }]);
    expect(quarantined()).toEqual([name]);
  });

  test.each([
    [
      '.cursor',
      'mkdir -p .cursor/rules .cursor/plans; echo > .cursor/rules/a.mdc; echo > .cursor/plans/a.plan.md',
    ],
    ['lsp.json', 'echo "{}" > lsp.json'],
    ['hie.yaml', 'echo > hie.yaml'],
    ['.bsp', 'mkdir .bsp; echo "{}" > .bsp/x.json'],
    ['bin/activate-hermit', 'mkdir bin; echo > bin/activate-hermit'],
    ['.github/lsp.json', 'mkdir .github; echo "{}" > .github/lsp.json'],
  ])(
    'is shown and stays where it is text, or a file that must be named: %s',
    async (name, command) => {
      const { run, quarantined } = await guardedWorkspace();
      expect((await run(command)).attention).toMatchObject([{ name, quarantined: false }]);
      expect(quarantined()).toEqual([]);
    },
  );

  test.each([
    ['.github', '../conf/gh', 'gh/hooks', true],
    ['.claude', 'conf/c', 'c/settings.json', true],
    ['.claude/skills', '../conf/s', 's/a/SKILL.md', false],
    ['.idea', 'conf/i', 'i/w.xml', false],
    ['.git/hooks', '../conf/h', 'h/pre-push', true],
  ])('is noticed where a command puts it behind the person’s link: %s', async (...row) => {
    const [name, target, inner, quarantined] = row;
    const at = name === '.github' ? 'a/.github' : name;
    const guarded = await guardedWorkspace({
      before: async (place) => {
        await place.put(`workspace/conf/${inner}`, 'mine');
        await rm(place.path(`workspace/${at}`), { recursive: true, force: true });
        await mkdir(dirname(place.path(`workspace/${at}`)), { recursive: true });
        await symlink(target, place.path(`workspace/${at}`));
      },
    });
    expect((await guarded.run('mv conf away')).attention).toEqual([]);
    const { attention } = await guarded.run(
      `mkdir -p $(dirname conf/${inner}); echo > conf/${inner}`,
    );
    expect(attention).toMatchObject([{ name: at, quarantined }]);
    expect((await guarded.run('true')).attention).toEqual([]);
  });

  test('is noticed where a command makes it in the place that core.hooksPath names', async () => {
    const guarded = await guardedWorkspace();
    await guarded.git('.', 'config', 'core.hooksPath', 'conf/checks');
    expect((await guarded.run('mkdir conf')).attention).toEqual([]);
    const { attention } = await guarded.run('mkdir conf/checks; echo > conf/checks/pre-commit');
    expect(attention).toMatchObject([{ name: 'conf/checks', quarantined: false }]);
    expect((await guarded.run('true')).attention).toEqual([]);
  });

  test.each(['.git', 'src/hooks', '.claude', '.cursorignore'])(
    'is never moved by a setting that names the person’s own: %s',
    async (name) => {
      const { run, place, quarantined } = await guardedWorkspace({
        before: async (at) => {
          await at.put('workspace/src/hooks/use.ts', 'mine');
          await at.put('workspace/.claude/settings.json', '{}');
          await at.put('workspace/.cursorignore', 'x');
        },
      });
      await run(`git init -q new; git -C new config core.hooksPath ../${name}`);
      expect(quarantined()).toEqual(['new/.git/config']);
      expect(await place.text('workspace/src/hooks/use.ts')).toBe('mine');
    },
  );

  test.each([
    ['.claude', 'rules/a.md', 'settings.json'],
    ['.cursor', 'plans/a.plan.md', 'hooks.json'],
    ['a/.codex', 'rules/a.md', 'config.toml'],
  ])('never becomes known while a command can add to it: %s', async (folder, text, settings) => {
    const { run, place, background, quarantined } = await guardedWorkspace();
    const made = `mkdir -p ${folder}/rules ${folder}/plans; echo a > ${folder}/${text}; touch made`;
    const changed = `until [ -e go ]; do sleep 0.02; done; mkdir -p ${folder}; echo H > ${folder}/${settings}`;
    await run(`${made}; ${changed}; touch done; sleep 60`, { is_background: true });
    await run('until [ -e made ]; do sleep 0.02; done');
    await run('touch go; until [ -e done ]; do sleep 0.02; done');
    await background.endAll();
    await run('true');
    expect(await place.text(`workspace/${folder}/${settings}`)).toBeUndefined();
    expect(quarantined()).toEqual([folder]);
  });

  test.each([
    '.github/hooks/a.json',
    '.github/lsp.json',
    'lsp.json',
    'a/.github/copilot/settings.json',
    '.plugin/plugin.json',
  ])('is written by no tool: %s', async (path) => {
    const place = await temporaryWorkspace();
    const result = await place.call('write', { path, contents: '{}' });
    expect(result).toMatchObject({ code: 'PROTECTED_PATH' });
  });

  test('is closed to commands where it is there', async () => {
    const { run, place } = await guardedWorkspace({
      before: (at) => at.put('workspace/.github/hooks/a.json', 'mine'),
    });
    await place.attempt('echo theirs > .github/hooks/a.json; mv .github/hooks x; true');
    expect(
      (
        await run(
          'cat .github/hooks/a.json; mkdir src; mkdir src/hooks; touch src/hooks/b; echo ok',
        )
      ).output,
    ).toContain('ok');
  });
});
