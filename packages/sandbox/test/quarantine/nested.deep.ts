/** A command hides things that programs of the person obey inside of folders that no scan lists. */
import { existsSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';

vi.mock('../../quarantine/limits.ts', async (importOriginal) => {
  const { QUARANTINE_LIMITS } = await importOriginal<typeof import('../../quarantine/limits.ts')>();
  // The real bound takes a command half a minute to reach.
  return { QUARANTINE_LIMITS: { ...QUARANTINE_LIMITS, maxEntries: 500 } };
});

// Another file of this worker may have loaded the modules with the real limits.
vi.resetModules();
const { NO_BUBBLEWRAP } = await import('../sandboxed-workspace.ts');
const { guardedWorkspace } = await import('./guarded-workspace.ts');

const DEEP = Array.from({ length: 70 }, () => 'd').join('/');
const REPOSITORY =
  'git init -q r; printf "[core]\\n\\tfsmonitor=touch \\"$HERE/ran\\"; false\\n" >> r/.git/config';
const LOOK_ALIKE =
  'git init -q --bare b; printf "[core]\\n\\tsshCommand=touch \\"$HERE/ran\\"; false\\n[remote \\"origin\\"]\\n\\turl=ssh://h/x\\n" > b/config';
const CROWD = 'for i in $(seq 501); do : > f$i; done';
// Longer than FOLDER_LIMITS.maxPathBytes, and shorter than what git takes, wherever the clone is.
const LONG = 'n=$(printf "%0200d" 0); for i in $(seq 18); do mkdir $n; cd $n || exit; done';

/** Name, commands in the folder, the thing that must be away, and what is put away. */
const HIDDEN: readonly (readonly [string, string, string, string, string])[] = [
  ['a repository too deep', '.husky', `mkdir -p ${DEEP}; cd ${DEEP}; ${REPOSITORY}`, DEEP, ''],
  ['a repository in a crowd', '.husky', `${CROWD}; ${REPOSITORY}`, 'r/.git', ''],
  ['a repository at a long path', '.idea', `${LONG}; ${REPOSITORY}`, '0'.repeat(200), ''],
  ['a look-alike', '.husky', LOOK_ALIKE, 'b/config', 'b/config'],
  ['itself a look-alike', '.husky', `${LOOK_ALIKE}; mv b/* .`, 'config', 'config'],
  [
    'hooks of an agent',
    '.husky',
    'mkdir p; mkdir p/.claude; echo H > p/.claude/settings.json',
    'p/.claude',
    'p/.claude',
  ],
  [
    'hooks among keys',
    '.aws',
    'mkdir .claude; echo H > .claude/settings.json',
    '.claude',
    '.claude',
  ],
  ['a link to hooks', '.vscode2/.idea', 'mkdir e; ln -s e .cursor', '.cursor', '.cursor'],
  [
    'hooks of GitHub',
    '.husky',
    'mkdir -p .github/hooks; echo H > .github/hooks/h.json',
    '.github/hooks',
    '.github/hooks',
  ],
  ['a link to GitHub', '.husky', 'mkdir -p e/hooks; ln -s e .github', '.github', '.github'],
  ['an ignore file', '.husky', 'echo "*" > .cursorignore', '.cursorignore', '.cursorignore'],
  [
    'one that cannot be listed',
    '.husky',
    `${REPOSITORY}; chmod 311 .`,
    'r/.git/x',
    'r/.git/config',
  ],
  [
    'one among keys that cannot be listed',
    '.ssh',
    `mkdir k; cd k; ${REPOSITORY}; chmod 311 .`,
    'k/r/.git/x',
    'k/r/.git/config',
  ],
  [
    'one beside a locked folder',
    '.aws',
    `mkdir -p a/c; chmod 444 a; ${REPOSITORY}`,
    'r/.git/x',
    'r/.git/config',
  ],
];

describe.skipIf(NO_BUBBLEWRAP)(`in a closed folder ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each(HIDDEN)(
    'a command hides not %s',
    { timeout: 60_000 },
    async (_, folder, make, thing, away) => {
      const { run, git, place, quarantined } = await guardedWorkspace();
      const name = away === '' ? folder : `${folder}/${away}`;
      const made = await run(`HERE="$PWD"; mkdir -p ${folder}; cd ${folder}; ${make}`);
      expect(made.attention).toContainEqual(expect.objectContaining({ quarantined: true }));
      expect(quarantined()).toContain(name);
      expect(existsSync(place.path(`workspace/${folder}/${thing}`))).toBe(false);
      for (const inner of ['r', 'b', 'k/r', '.']) {
        await git(`${folder}/${inner}`, 'status');
        await git(`${folder}/${inner}`, 'fetch');
      }
      expect(await place.text('workspace/ran')).toBeUndefined();
      expect((await run('true')).attention).toEqual([]);
    },
  );

  test('a folder that became known goes when it becomes too deep', async () => {
    const { run, background, quarantined } = await guardedWorkspace();
    await run(
      `mkdir .husky; touch made; until [ -e go ]; do sleep 0.02; done; mkdir -p .husky/${DEEP}; touch done; sleep 60`,
      { is_background: true },
    );
    await run('until [ -e made ]; do sleep 0.02; done');
    await run('touch go; until [ -e done ]; do sleep 0.02; done');
    await background.endAll();
    expect(quarantined()).toEqual(['.husky']);
  });

  test('what the person has stays, however deep', async () => {
    const { run, quarantined } = await guardedWorkspace({
      before: async (at) => {
        await at.put(`workspace/.husky/${DEEP}/a`, '');
        await at.put('workspace/.aws/.claude/settings.json', '');
      },
    });
    expect((await run('touch a')).attention).toEqual([]);
    expect(quarantined()).toEqual([]);
  });
});
