import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { cpuMsOf } from '../../../../test/cpu-time.ts';
import { fewOf } from '../../../../test/depth.ts';
import { IgnoredPaths } from '../../ignored/ignored-paths.ts';

const PATTERNS = [
  ...['a', 'b/', '/a', '/a/b', 'a/b', 'a/*', '**/b', 'a/**', '**/b/*.txt', '*.log', '!x.txt'],
  ...['!a/b', '!/a/b/', 'c d', 'c\\ d', '\\[z\\]', '[!a]', '?', '*', '!*.txt', '#a', '\\#a'],
  ...['/*/b', '*/x.txt', 'b/**/y.log', '.h', '!.h', '/c d/*', '/[ab]/b', '', '  ', 'x.txt  '],
  ...['a/**/b', '/**/x.txt', '**', '!**', '!a/**', '[[:alpha:]]', '[a-b]', '!a/', '\\!a', '*/'],
  ...['a/', '[\\]a]', '[^x].txt', 'x.*', '*.t?t', '**/', 'c*d', '*a*b*'],
];
const FOLDERS = ['a', 'b', 'c d', '[z]', '.h', 'a/b', 'a/a', 'a/a/b', 'b/a', 'b/c d', '#a', '!a'];
const NAMES = ['x.txt', 'y.log', '.hidden', 'a', 'ab'];
const FILES = ['', ...FOLDERS.map((folder) => `${folder}/`)].flatMap((folder) =>
  NAMES.map((name) => `${folder}${name}`).filter((path) => !FOLDERS.includes(path)),
);

/** The files that git ignores by a `.gitignore` at the top. */
function ignoredByGit(cwd: string): string[] {
  const output = execFileSync('git', ['ls-files', '-zoi', '--exclude-standard'], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
  });
  return output.split('\0').filter((path) => path !== '');
}

it('rules ignore what git ignores by them', async () => {
  const project = await temporaryWorkspace(Object.fromEntries(FILES.map((path) => [path, ''])));
  execFileSync('git', ['init', '-q'], { cwd: project.root });
  const random = new Random(1);
  let compared = 0;
  const rounds = fewOf(150, 30);
  for (let round = 0; round < rounds; round++) {
    const rules = Array.from({ length: 1 + random.below(5) }, () => random.pick(PATTERNS));
    await project.put('.gitignore', rules.join(random.chance(0.5) ? '\n' : '\r\n'));
    const paths = new IgnoredPaths(project.root, ['.gitignore']);
    const found = FILES.filter((path) => paths.closing(path, { isFolder: false, maxAgeMs: 1e6 }));
    const expected = ignoredByGit(project.root).filter((path) => path !== '.gitignore');
    expect([rules, found.sort()]).toEqual([rules, expected.sort()]);
    compared += expected.length;
  }
  expect(compared).toBeGreaterThan(6 * rounds);
});

const isClosed = (paths: IgnoredPaths, path: string, isFolder = false) =>
  paths.closing(path, { isFolder }) !== undefined;

describe('the files of several folders', () => {
  it('close together, and none opens what another closes', async () => {
    const { root } = await temporaryWorkspace({
      '.cursorignore': 'secret.txt\n/a/deep\n!open.txt\n',
      'a/.cursorignore': '!secret.txt\n!deep\nopen.txt\n/x\n',
    });
    const paths = new IgnoredPaths(root, ['.cursorignore']);
    const closed = ['secret.txt', 'a/secret.txt', 'a/deep/b', 'a/open.txt', 'a/x/y', 'b/x'];
    expect(closed.map((path) => isClosed(paths, path))).toEqual([
      ...[true, true, true, true, true, false],
    ]);
  });

  it('count above the root, up to the top of the repository', async () => {
    const { root, put } = await temporaryWorkspace({
      '.cursorignore': 'too-far.txt\n',
      'repository/.git/HEAD': '',
      'repository/.cursorignore': '/packages/web/data\n*.csv\npackages\n',
    });
    await put('repository/packages/web/data/a', '');
    const paths = new IgnoredPaths(`${root}/repository/packages/web`, ['.cursorignore']);
    const names = ['data/a', 'x/b.csv', 'too-far.txt', 'src/a.ts'];
    expect(names.map((path) => isClosed(paths, path))).toEqual([true, true, false, false]);
  });

  it('count above the root also where the root is a repository', async () => {
    const { root, put } = await temporaryWorkspace({
      '.cursorignore': 'too-far.txt\n',
      'outer/.git/HEAD': '',
      'outer/.cursorignore': '/web/data\n*.csv\n',
      'outer/web/a': '',
    });
    for (const made of [undefined, '.git/HEAD', '.git']) {
      if (made) await rm(`${root}/outer/web/.git`, { recursive: true, force: true });
      if (made) await put(`outer/web/${made}`, 'gitdir: x\n');
      const paths = new IgnoredPaths(`${root}/outer/web`, ['.cursorignore']);
      const names = ['data/a', 'x/b.csv', 'too-far.txt'];
      expect(names.map((path) => isClosed(paths, path))).toEqual([true, true, false]);
    }
  });

  it('count as they are at that moment', async () => {
    const { root, put, path } = await temporaryWorkspace({ 'a/b.txt': '' });
    const paths = new IgnoredPaths(root, ['.cursorignore']);
    const seen: boolean[] = [isClosed(paths, 'a/b.txt')];
    for (const rules of ['b.txt', 'c.txt', '/a/', '!a']) {
      await put('.cursorignore', rules);
      seen.push(isClosed(paths, 'a/b.txt'));
    }
    await put('a/.cursorignore', '*');
    seen.push(isClosed(paths, 'a/b.txt'));
    await rm(path('a/.cursorignore'));
    seen.push(isClosed(paths, 'a/b.txt'));
    expect(seen).toEqual([false, true, false, true, false, true, false]);
  });
});

it('another spelling of a closed name is closed, another spelling of an opened name is not open', async () => {
  const { root } = await temporaryWorkspace({
    '.cursorignore': 'Gr\u00f6\u00dfe\n*.KEYS\n!ok.keys\n',
  });
  const paths = new IgnoredPaths(root, ['.cursorignore']);
  const names = ['gro\u0308\u00dfe', 'a.keys', 'ok.keys', 'OK.keys'];
  expect(names.map((path) => isClosed(paths, path))).toEqual([true, true, false, true]);
});

describe('what stands in the place of an ignore file closes its folder', () => {
  const ODD: readonly [string, (path: string) => Promise<unknown> | unknown, string][] = [
    ['a folder', (path) => mkdir(path), 'a folder'],
    ['a link', (path) => symlink('ignore', path), 'a symbolic link'],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'a pipe or a device'],
    [
      'a file that is too large',
      (path) => execFileSync('truncate', ['-s', '65537', path]),
      'far too large',
    ],
    [
      'too many rules',
      (path) => execFileSync('sh', ['-c', `yes a | head -2001 > ${path}`]),
      'far too large',
    ],
  ];
  it.each(ODD)('%s', async (_, make, kind) => {
    const { root, path } = await temporaryWorkspace({ 'a/ignore': 'b\n', 'a/c/d': '', 'e/f': '' });
    await make(path('a/.cursorignore'));
    const paths = new IgnoredPaths(root, ['.cursorignore']);
    const closed = paths.closing('a/c/d', { isFolder: false });
    expect(closed?.content).toEqual({ state: 'odd', kind });
    expect([isClosed(paths, 'a', true), isClosed(paths, 'a/x'), isClosed(paths, 'e/f')]).toEqual([
      ...[true, true, false],
    ]);
    expect(isClosed(paths, '.', true)).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)('a file that may not be read', async () => {
    const { root, path } = await temporaryWorkspace({ '.cursorignore': 'a\n' });
    await chmod(path('.cursorignore'), 0);
    const paths = new IgnoredPaths(root, ['.cursorignore']);
    expect(isClosed(paths, '.', true)).toBe(true);
  });
});

it('no rule is about a repository’s own folder', async () => {
  const { root } = await temporaryWorkspace({ '.cursorignore': '*\nconfig\n' });
  const paths = new IgnoredPaths(root, ['.cursorignore']);
  expect(['.git', 'a/.git/config'].map((path) => isClosed(paths, path))).toEqual([false, true]);
  expect(isClosed(paths, '.git/config')).toBe(false);
});

it('rules that are made to take time do not', async () => {
  const hostile = [
    `${'*a'.repeat(900)}b`,
    `${'**/'.repeat(500)}b`,
    '['.repeat(5_000),
    '[\\]'.repeat(5_000),
  ];
  const { root } = await temporaryWorkspace({ '.cursorignore': hostile.join('\n') });
  const paths = new IgnoredPaths(root, ['.cursorignore']);
  const cpuMs = cpuMsOf(() => {
    for (let at = 0; at < 100; at++) isClosed(paths, `${'a/'.repeat(20)}${'a'.repeat(240)}${at}`);
  });
  expect(cpuMs).toBeLessThan(5_000);
});
