/** What commands in the sandbox make of `.cursorignore`. */
import { existsSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Confinement } from '../../../packages/sandbox/launch/confinement.ts';
import {
  git,
  NO_BUBBLEWRAP,
  realConfinement,
  type SandboxedWorkspace,
  sandboxedWorkspace,
} from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import { run } from '../../../packages/sandbox/test/terminal/plain-launch.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';

interface Project {
  readonly place: SandboxedWorkspace;
  readonly confinement: Confinement;
  readonly put: (name: string, text: string) => Promise<void>;
  readonly path: (name: string) => string;
  readonly run: (command: string) => Promise<{ output: string; limits: string }>;
}

async function projectWith(
  files: Readonly<Record<string, string>>,
  { isHeld = false } = {},
): Promise<Project> {
  const place = await sandboxedWorkspace();
  const path = (name: string) => place.path(`project/${name}`);
  const put = (name: string, text: string) => place.put(`project/${name}`, text);
  for (const [name, text] of Object.entries(files)) await put(name, text);
  const workspace = place.path('project');
  const confinement = await realConfinement({ ...place.surroundings, workspace }, { isHeld });
  onTestFinished(async () => {
    confinement[Symbol.dispose]();
    await place.remove();
  });
  return {
    place,
    confinement,
    put,
    path,
    run: async (command) => {
      const request = { command, cwd: workspace, permissions: [] };
      return await confinement.start(request, async ({ launch, limits }) => {
        const { output } = await run(launch);
        return { output, limits };
      });
    },
  };
}

const READ = 'grep -rs VEILED . ; find . -name "*.txt" -exec cat {} + 2>/dev/null; echo end';

describe.skipIf(NO_BUBBLEWRAP).each([
  ['in a base', false],
  ['with mounts of their own', true],
])(`commands %s ${NO_BUBBLEWRAP ?? ''}`, (_, isHeld) => {
  test('do not read what it names, and the result says what is closed', async () => {
    const { run } = await projectWith(
      {
        '.cursorignore': '/data/\r\n*.veiled\r\n!open.veiled\r\n',
        'data/deep/a.txt': 'VEILED',
        'src/b.veiled': 'VEILED',
        'src/open.veiled': 'open',
        'src/.cursorignore': 'c.txt\n!b.veiled\n',
        'src/c.txt': 'VEILED',
        'src/d.txt': 'free',
      },
      { isHeld },
    );
    const { output, limits } = await run(`${READ}; cat src/open.veiled`);
    expect(output).toBe('freeend\nopen');
    expect(limits).toContain('closed by .cursorignore: "data", "src/b.veiled", "src/c.txt"');
  });

  test('follow its changes and new files, and open again what a person takes out', async () => {
    const { run, put } = await projectWith(
      { '.cursorignore': '/a.txt\n', 'a.txt': 'A', 'b.txt': 'B' },
      { isHeld },
    );
    const read = 'cat a.txt b.txt c/d.txt 2>/dev/null; true';
    const seen = [(await run(read)).output];
    await put('.cursorignore', '/a.txt\n/b.txt\n/c/\n');
    seen.push((await run(read)).output);
    await put('c/d.txt', 'D');
    seen.push((await run(read)).output);
    await put('.cursorignore', '/b.txt\n');
    seen.push((await run(read)).output);
    expect(seen).toEqual(['B', '', '', 'AD']);
  });

  test('cannot change it, replace it or move it away', async () => {
    const text = '/secret.txt\n';
    const { run, place } = await projectWith(
      { 'sub/.cursorignore': text, 'sub/secret.txt': 'VEILED' },
      { isHeld },
    );
    const { output } = await run(
      'cd sub; echo > .cursorignore; rm -f .cursorignore; mv .cursorignore x; touch t; mv -f t .cursorignore; ' +
        'ln -sf t .cursorignore; mv secret.txt x; ln secret.txt y; cp secret.txt z; cat *',
    );
    expect(output).not.toContain('VEILED');
    expect(await place.text('project/sub/.cursorignore')).toBe(text);
  });
});

describe.skipIf(NO_BUBBLEWRAP)('what a command moves out of the reach of a rule', () => {
  const FILES = {
    'sub/.cursorignore': '/x/secret.txt\n',
    'sub/x/secret.txt': 'VEILED',
    'sub/x/open.txt': 'open',
    'sub/y': '',
  };
  const MOVES: readonly [string, string][] = [
    ['its folder', 'mkdir other; mv sub/x other/x'],
    [
      'the folder of the ignore file, then its own back',
      'mkdir other; mv sub/x other/x; mv sub sub2; mv other sub',
    ],
    [
      'the ignore file into a folder that cannot be listed',
      'mkdir other hidden; mv sub/x other/x; mv sub hidden/sub; chmod 311 hidden',
    ],
  ];
  test.each(MOVES)('by %s stays closed to commands and tools', async (_, move) => {
    const { run, confinement, path } = await projectWith(FILES);
    const workspace = await Workspace.open(path('.'));
    workspace.keepClosed(() => confinement.nameless?.() ?? []);
    await run(move);
    for (let time = 0; time < 2; time++) expect((await run(READ)).output).not.toContain('VEILED');
    const places = ['other', 'sub', 'sub2'].map((folder) => `${folder}/x/secret.txt`);
    const there = places.filter((name) => existsSync(path(name)));
    expect(there).toHaveLength(1);
    await expect(workspace.resolve(there[0] ?? '', 'read')).rejects.toMatchObject({
      code: 'SECRET_PATH',
    });
    expect(workspace.mayName(path(there[0] ?? ''))).toBe(false);
  });
});

describe.skipIf(NO_BUBBLEWRAP)('an edit of the ignore file', () => {
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`conf/${at}.csv`, 'VEILED']),
  );
  const RULE = '/conf/prod.json\n';
  const EDITS: readonly [string, string, string, boolean, Record<string, string>?][] = [
    ['another rule', '.cursorignore', `${RULE}/other.txt\n`, true],
    ['the rule taken out', '.cursorignore', '/other.txt\n', false],
    ['the rule of a folder', '.cursorignore', '/other\n/conf/*.csv\n', true, many],
    [
      'the rule in a moved folder',
      'moved/.cursorignore',
      '#\n',
      true,
      { 'conf/.cursorignore': '*.json\n' },
    ],
  ];
  test.each(EDITS)('to %s opens a moved file only by its old path', async (...edit) => {
    const [, name, text, isClosed, files = {}] = edit;
    const rules = files['conf/.cursorignore'] ? '' : '/conf/prod.json\n/conf/*.csv\n';
    const { run, put } = await projectWith({
      '.cursorignore': rules,
      'conf/prod.json': 'VEILED',
      ...files,
    });
    const moved = await run('mv conf moved; cat moved/prod.json');
    expect(moved.output).not.toContain('VEILED');
    for (const saved of [text, text]) {
      await put(name, saved);
      expect((await run('cat */prod.json */*.csv')).output.includes('VEILED')).toBe(!isClosed);
    }
  });
});

test.skipIf(NO_BUBBLEWRAP)('git sees tracked files that it names as unchanged', async () => {
  const { run, place, put } = await projectWith({ 'a.txt': 'VEILED', 'data/b.txt': 'VEILED' });
  await put('.cursorignore', 'a.txt\ndata/\n');
  const cwd = place.path('project');
  await git(cwd, 'init', '--quiet');
  await git(cwd, 'add', '.');
  await git(cwd, '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qm', 'first');
  const { output } = await run(`${READ}; git status --short; git diff HEAD --stat`);
  expect(output).toBe('end\n');
});

describe.skipIf(NO_BUBBLEWRAP)('a rule for very many files', () => {
  test('closes their folder as a whole', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`data/${at}.csv`, 'VEILED']),
    );
    const { run } = await projectWith({
      ...many,
      'data/readme.txt': 'x',
      '.cursorignore': 'data/*.csv\n',
    });
    const { output, limits } = await run(`${READ}; ls data; touch data/new`);
    expect(output).not.toContain('VEILED');
    expect(limits).toContain('closed by .cursorignore: "data"');
  });
});

describe.skipIf(NO_BUBBLEWRAP)('what stands in the place of the file', () => {
  test('closes its folder', async () => {
    const { run, put } = await projectWith({ 'a/b.txt': 'VEILED', 'c.txt': 'open' });
    await put('a/.cursorignore/x', '');
    expect((await run(READ)).output).toBe('openend\n');
  });

  test('leaves no command to run in the workspace’s own folder', async () => {
    const { run, path, put } = await projectWith({ 'a.txt': 'VEILED', rules: 'a.txt\n' });
    await symlink('rules', path('.cursorignore'));
    await expect(run(READ)).rejects.toMatchObject({
      code: 'SANDBOX_FAILED',
      message: expect.stringContaining('a symbolic link'),
    });
    await rm(path('.cursorignore'));
    await put('.cursorignore', 'a.txt\n');
    expect((await run(READ)).output).not.toContain('VEILED');
  });

  test('leaves a bridge that begins so without a sandbox', async () => {
    const project = projectWith({ 'a.txt': '', '.cursorignore/x': '' });
    await expect(project).rejects.toThrow(
      "The workspace's .cursorignore cannot be read, because it is a folder",
    );
  });
});
