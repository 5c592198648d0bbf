/** Links and settings of the person give a meaning to places whose names have none. */
import { symlink } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  freshWorkspace,
  git,
  NO_BUBBLEWRAP,
  realConfinement,
} from '../../../sandbox/test/sandboxed-workspace.ts';
import { run } from '../../../sandbox/test/terminal/plain-launch.ts';
import { Workspace } from '../../workspace.ts';

async function projectWith(
  files: Readonly<Record<string, string>>,
  { links = {} as Readonly<Record<string, string>>, config = [] as readonly string[] } = {},
) {
  const { path, put, text, surroundings, base } = await freshWorkspace();
  for (const [name, content] of Object.entries(files)) await put(`project/${name}`, content);
  for (const [name, target] of Object.entries(links))
    await symlink(target, path(`project/${name}`));
  await git(base, 'init', '--quiet', 'project');
  if (config.length > 0) await git(path('project'), 'config', ...config);
  const cwd = path('project');
  const confinement = await realConfinement({ ...surroundings, workspace: cwd });
  onTestFinished(() => confinement[Symbol.dispose]());
  const workspace = await Workspace.open(cwd);
  workspace.keepClosed(() => confinement.nameless?.() ?? []);
  return {
    workspace,
    text: (name: string) => text(`project/${name}`),
    run: async (command: string) => {
      const request = { command, cwd, permissions: [] };
      return await confinement.start(request, async ({ launch }) => (await run(launch)).output);
    },
  };
}

describe.skipIf(NO_BUBBLEWRAP)(`what a secret's name leads to ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each([
    ['a file', { '.env': 'top/conf/dev' }, 'top/conf/dev'],
    ['a folder', { '.aws': 'top/conf' }, 'top/conf/dev'],
    ['a chain', { '.env': 'one', one: 'top/conf/dev' }, 'top/conf/dev'],
  ])('is closed to commands and tools: %s', async (_, links, secret) => {
    const project = await projectWith({ [secret]: 'VEILED', open: 'open' }, { links });
    expect(
      await project.run(`cat ${secret}; cp -rL . /tmp/x; grep -r VEILED /tmp/x . ; cat open`),
    ).toMatch(/^(?!.*VEILED).*open$/s);
    const read = project.workspace.resolve(secret, 'read');
    await expect(read).rejects.toMatchObject({ code: 'SECRET_PATH' });
    expect(await project.run(`mkdir m; mv top m; cat m/${secret}`)).not.toContain('VEILED');
    const moved = project.workspace.resolve(`m/${secret}`, 'read');
    await expect(moved).rejects.toMatchObject({ code: 'SECRET_PATH' });
  });

  test('stays open where it is an example, around the link, or named by a command', async () => {
    const files = { '.env.example': 'example', 'a/b': 'inner' };
    const project = await projectWith(files, { links: { '.env': '.env.example', 'a/.aws': '..' } });
    expect(await project.run('ln -s a/b .netrc; cat .env.example a/b')).toBe('exampleinner');
    expect(await project.run('cat a/b')).toBe('inner');
  });
});

describe.skipIf(NO_BUBBLEWRAP)(`the folder of core.hooksPath ${NO_BUBBLEWRAP ?? ''}`, () => {
  test('is read-only for commands, and git still runs the hooks in it', async () => {
    const hook = '#!/bin/sh\necho mine\n';
    const { run: attempt, text } = await projectWith(
      { 'tools/checks/pre-commit': hook },
      { config: ['core.hooksPath', 'tools/checks'] },
    );
    const output = await attempt(
      'cat tools/checks/pre-commit; echo x > tools/checks/pre-push; echo x > tools/checks/pre-commit; rm -rf tools; echo end',
    );
    expect(output).toMatch(/^#!\/bin\/sh\necho mine\n.*end\n$/s);
    expect(await text('tools/checks/pre-commit')).toBe(hook);
    expect(await text('tools/checks/pre-push')).toBeUndefined();
  });
});
