import { describe, expect, test } from 'vitest';
import { SANDBOX_LIMITS } from '../../limits.ts';
import { probeConfinement } from '../../proof/confine.ts';
import { confinedTo, freshWorkspace, NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';

describe.skipIf(NO_BUBBLEWRAP)(`a command cannot end all others ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each([
    ['a link to the shell', 'ln -s /bin/bash a.key; ln -s /usr/bin .ssh'],
    [
      'a link to a folder of the workspace',
      'mkdir src; ln -s src .env; ln -s src .git2; ln -s src .vscode',
    ],
    [
      'a path longer than 4,096 bytes',
      'n=$(printf "%0200d" 0); for i in $(seq 40); do mkdir $n && cd $n || exit; done; git init -q; touch .env',
    ],
    ['a pipe in the place of ignore rules', 'mkfifo .gitignore .ignore'],
    ['a pipe and a link in the place of a repository', 'mkdir a b; mkfifo a/.git; ln -s / b/.git'],
    ['a folder without rights', 'mkdir -p x/.git; chmod 000 x'],
    [
      'names that are no text',
      "mkdir $'a\\nb' $'c\\xff\\x1b[2J'; touch $'a\\nb/.env' $'c\\xff\\x1b[2J/.env'",
    ],
    ['a policy that is broken', 'mkdir .drawbridge; echo "{" > .drawbridge/policy.json'],
  ])('by %s', async (_, command) => {
    const place = await freshWorkspace();
    await place.attempt('true');
    await place.attempt(command);
    const { output } = await place.attempt('mkdir -p src; echo runs > src/made && cat src/made');
    expect(output).toBe('runs\n');
  });
});

describe.skipIf(NO_BUBBLEWRAP)('what a command left for the next bridge', () => {
  test.each(['plain', 'git_write'] as const)(
    'does not open the folder around the workspace as a repository (%s)',
    async (kind) => {
      const place = await freshWorkspace();
      // `commondir` leads to the folder that holds the workspace.
      await place.attempt(
        'mkdir p && cd p && mkdir wt && echo "gitdir: wt" > .git && echo ../.. > wt/commondir && echo "$PWD/.git" > wt/gitdir',
      );
      const inside = await confinedTo(place, 'workspace/p');
      const output = await inside(
        `cat ../.env ; echo made > ../made; cat ../readme; echo end`,
        kind === 'plain' ? [] : [kind],
      );
      expect(output).not.toMatch(/secret|hello/);
      expect(await place.text('workspace/made')).toBeUndefined();
    },
  );

  test('does not show what it has linked to beside a workspace in its own', async () => {
    const place = await freshWorkspace();
    await place.attempt(
      'mkdir p; ln -s "$HOME/.ssh" node_modules; ln -s "$HOME/.npmrc" package.json',
    );
    const inside = await confinedTo(place, 'workspace/p');
    const output = await inside(
      'cat ../node_modules/id_ed25519 ../package.json ~/.ssh/id_ed25519 ~/.npmrc; echo end',
      [],
    );
    expect(output).not.toContain('secret');
  });
});

describe.skipIf(NO_BUBBLEWRAP)(
  `a workspace with many protected paths ${NO_BUBBLEWRAP ?? ''}`,
  () => {
    const probe = async (count: number) => {
      const place = await freshWorkspace();
      for (let index = 0; index < count; index++) await place.put(`workspace/p${index}/.envrc`, '');
      using confinement = await probeConfinement(place.surroundings);
      return confinement;
    };

    test('is confined up to the bound', async () => {
      // Three more are there: .git, .env and .vscode.
      expect(await probe(SANDBOX_LIMITS.maxFirstMounts - 3)).toMatchObject({ kind: 'bubblewrap' });
    });

    test('asks about every command beyond it, and says why', async () => {
      expect(await probe(SANDBOX_LIMITS.maxFirstMounts - 2)).toMatchObject({
        kind: 'none',
        detail: expect.stringContaining('more than 300 paths'),
      });
    });
  },
);
