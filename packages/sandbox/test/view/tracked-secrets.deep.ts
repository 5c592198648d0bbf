import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Masks, removeMasks, TrackedSecrets } from '../../view/masks.ts';
import {
  confinedTo,
  freshWorkspace,
  NO_BUBBLEWRAP,
  OWNER,
  type SandboxedWorkspace,
} from '../sandboxed-workspace.ts';

const AS = '-c user.name=A -c user.email=a@b.c';

describe.skipIf(NO_BUBBLEWRAP)(`a tracked secret ${NO_BUBBLEWRAP ?? ''}`, () => {
  const FORMS: readonly [string, readonly string[], boolean][] = [
    ['in the usual form', ['init', '-q'], false],
    ['with prefixed names', ['-c', 'index.version=4', 'init', '-q'], false],
    ['with long ids', ['init', '-q', '--object-format=sha256'], false],
    ['for a command with mounts of its own', ['init', '-q'], true],
  ];

  it.each(FORMS)('is unchanged to git %s', async (name, init, isHeld) => {
    const { git, put, attempt, text } = await repository(init, isHeld);
    if (name.includes('prefixed')) await git('update-index', '--index-version', '4');
    // The index and the files are of one second: git reads such files to be sure.
    const looked = await attempt('cat .env; git status --short; git diff; git diff HEAD');
    expect(looked.output).toBe('cat: .env: Permission denied\n');
    await put('a.txt', 'two\n');
    expect((await attempt('git status --short; git diff --stat HEAD')).output).toMatch(
      /^ M a\.txt\n a\.txt \| 2 \+-\n.*\n$/,
    );
    const work = `git ${AS} stash && git stash pop -q && git add -A && git ${AS} commit -qm 2 && echo 3 > a.txt && git ${AS} commit -qam 3 && git status --short && git log --format=%s --name-only`;
    const done = await attempt(work, 'git_write');
    expect(done.output).toMatch(/^Saved working .*\n3\n\na\.txt\n2\n\na\.txt\n1\n/);
    expect(await text('workspace/repo/.env')).toBe('KEY=1\n');
    expect(await git('status', '--porcelain')).toBe('');
  });

  it.each([
    ['another size', 'KEY=12\n'],
    ['the same size', 'KEY=2\n'],
  ])('that the person has changed to %s is unchanged in commands alone', async (_, changed) => {
    const { git, put, attempt, text } = await repository();
    await put('.env', changed);
    // Of another size: git may not see one of the same second and size after the index was written again.
    await put('a.txt', 'second\n');
    for (let round = 0; round < 3; round++) {
      expect((await attempt('git diff --name-only; git status --short')).output).toBe(
        `a.txt\n M a.txt\n`,
      );
      expect(await git('status', '--porcelain')).toBe(' M .env\n M a.txt\n');
    }
    const work = `git ${AS} stash -q && git stash pop -q && git ${AS} commit -qam 2 && git show --name-only --format=`;
    expect((await attempt(work, 'git_write')).output).toBe('a.txt\n');
    expect(await text('workspace/repo/.env')).toBe(changed);
    expect(await git('status', '--porcelain')).toBe(' M .env\n');
  });

  it('leaves other files in doubt, so that git finds what was changed in the same second', async () => {
    const { root, git, put, attempt } = await repository();
    const second = Math.floor(Date.now() / 1_000) - 60;
    const at = (name: string) => utimes(`${root}/${name}`, second, second);
    await put('b.txt', 'two\n');
    await at('b.txt');
    await at('.env');
    await git('add', 'b.txt', '.env');
    await put('b.txt', 'TWO\n');
    await at('b.txt');
    await at('.git/index');
    expect((await attempt('git diff --name-only')).output).toBe('b.txt\n');
    const likeCommands = ['-c', 'core.checkStat=minimal', '-c', 'core.trustctime=false'];
    expect(await git(...likeCommands, 'diff', '--name-only')).toBe('b.txt\n');
  });

  it('that is not tracked is ignored by git, which could not add it', async () => {
    const { git, put, attempt, text } = await repository();
    await put('sub/[a] b.key', 'secret\n');
    await put('new.pem', 'secret\n');
    await put('b.txt', 'b\n');
    expect((await attempt('git status --short')).output).toBe('?? b.txt\n');
    const added = await attempt('git add -A && git commit -qm b', 'git_write');
    expect(added).toMatchObject({ end: { exitCode: 0 }, output: '' });
    expect(await git('show', '--name-only', '--format=%an <%ae>')).toBe(
      'Ada <ada@example.com>\n\nb.txt\n',
    );
    await attempt('git stash -uq; git clean -fdxq', 'git_write');
    expect(await text('workspace/repo/new.pem')).toBe('secret\n');
  });

  it('a secret is named to git in no place that belongs to the person', async () => {
    const place = await freshWorkspace({ readable: ['.gitconfig', '.config'] });
    await place.put('home/.gitconfig', '[user]\n\tname = Own\n');
    const shown = await confinedTo(place, 'workspace');
    expect(await shown('cat ~/.gitconfig; ls ~/.config', [])).toMatch(/name = Own\n/);
    const atHome = await confinedTo(place, 'home/.config');
    expect(await atHome('ls -a; git config user.email', [])).toContain('listed');
    expect(await readdir(place.path('home/.config'))).toEqual(['listed', 'other']);
  });

  it.each(FORMS)(
    'shows package managers their settings without tokens %s',
    async (_, init, isHeld) => {
      const { git, put, attempt, text } = await repository(init, isHeld);
      const settings = (registry: string) =>
        `registry=${registry}\n//npm.example.com/:_authToken=S3CRET\nsave-exact=true\n`;
      await put('.npmrc', settings('https://one.example.com/'));
      await put('package.json', '{}\n'); // npm reads no settings in another folder.
      await put('sub/.yarnrc.yml', 'nodeLinker: pnp\nnpmAuthToken: S3CRET\n');
      const read =
        'npm config get registry save-exact; cat .npmrc sub/.yarnrc.yml; git status --short';
      const untracked = await attempt(read);
      expect(untracked.output).toContain('registry=https://one.example.com/\nsave-exact=true\n');
      expect(untracked.output).toContain('nodeLinker: pnp\n#*');
      expect(untracked.output).not.toMatch(/S3CRET|\?\? .npmrc|sub/);
      await git('add', '-A', '-f');
      await git('commit', '-qm', 'settings');
      const tracked = await attempt(`${read}; git diff; echo x >> .npmrc`);
      expect(tracked.output).toContain('registry=https://one.example.com/\nsave-exact=true\n');
      expect(tracked.output).toMatch(/\*\n[^\n]*Permission denied\n$|Read-only file system\n$/);
      expect(tracked.output).not.toMatch(/S3CRET|diff --git| M /);
      const work = `echo n > n.txt; git add -A && git ${AS} commit -qam n; git show --name-only --format=%s`;
      expect((await attempt(work, 'git_write')).output).toBe('n\n\nn.txt\n');
      // Of another size git would take the copy for changed.
      await put('.npmrc', settings('https://another.example.com/'));
      expect((await attempt('cat .npmrc; git status --short')).output).toBe(
        'cat: .npmrc: Permission denied\n',
      );
      expect(await text('workspace/repo/.npmrc')).toContain('S3CRET');
    },
  );

  it('stays closed while git holds the index', async () => {
    const { root, git, put, attempt } = await repository();
    const later = Math.floor(Date.now() / 1_000) + 1_000; // Not before the index: in doubt.
    await utimes(`${root}/.env`, later, later);
    await git('add', '.env');
    await put('.git/index.lock', '');
    expect((await attempt('cat .env; git diff')).output).toMatch(
      /^cat: .env: Permission denied\n.*\nfatal: cannot hash .env\n$/,
    );
  });

  it('stays in its place when a command changes the branch, and is no change after it', async () => {
    const { git, put, attempt, text } = await repository();
    await git('checkout', '-q', '-b', 'other');
    await put('.env', 'KEY=other and longer\n');
    await put('c.txt', 'c\n');
    await git('add', '-A');
    await git('commit', '-qm', 'other');
    await git('checkout', '-q', '-');
    const changed = await attempt('git checkout other', 'git_write');
    expect(changed.output).toContain("unable to unlink old '.env': Device or resource busy");
    expect(await text('workspace/repo/.env')).toBe('KEY=1\n');
    expect((await attempt('git status --short; git diff')).output).toBe('');
    const all = await attempt(`echo d > d; git add -A && git ${AS} commit -qm d`, 'git_write');
    expect(all.end).toMatchObject({ exitCode: 0 });
    expect(await git('show', '--name-only', '--format=')).toBe('d\n');
    expect(await git('show', 'HEAD:.env')).toBe('KEY=other and longer\n');
    await attempt('rm -f .env; git rm -f .env; git clean -fdxq; git reset -q --hard', 'git_write');
    expect(await text('workspace/repo/.env')).toBe('KEY=1\n');
    expect(await git('show', 'HEAD:.env')).toBe('KEY=other and longer\n');
  });

  it('in a closed folder, executable or empty, is unchanged too', async () => {
    const { root, git, put, attempt } = await repository();
    await put('.aws/a/config', 'secret\n');
    await put('.aws/credentials', 'secret\n');
    await put('certs/server.key', 'secret\n');
    await put('certs/empty.pem', '');
    await chmod(`${root}/certs/server.key`, 0o755);
    await git('add', '-A');
    await git('commit', '-qm', 'keys');
    await put('.aws/new', 'untracked\n');
    await git('update-index', '--refresh');
    const looked = await attempt(
      'git diff; git diff HEAD; git status --short -uno; cat .aws/a/config; ls .aws; cat certs/*',
    );
    expect(looked.output.split('\n')).toEqual([
      'cat: .aws/a/config: Permission denied',
      "ls: cannot open directory '.aws': Permission denied",
      'cat: certs/empty.pem: Permission denied',
      'cat: certs/server.key: Permission denied',
      '',
    ]);
    const work = `echo 2 > a.txt; git ${AS} stash -q && git stash pop -q && git ${AS} commit -qam 2; git show --name-only --format=`;
    expect((await attempt(work, 'git_write')).output).toBe('a.txt\n');
  });

  it.each(['a linked worktree', 'a submodule'])('of %s is unchanged too', async (where) => {
    const { git, put, place } = await repository();
    const allowed = ['-c', 'protocol.file.allow=always'];
    if (where === 'a submodule') {
      await put('../outer/a.txt', 'a\n');
      const outer = (...args: string[]) => git('-C', '../outer', ...allowed, ...args);
      await outer('init', '-q');
      await outer('submodule', 'add', '-q', '../repo', 'sub');
    } else await git('worktree', 'add', '-q', '../linked');
    const isLinked = where !== 'a submodule';
    const run = await confinedTo(place, `workspace/${isLinked ? 'linked' : 'outer'}`);
    const enter = isLinked ? '' : 'cd sub; ';
    const looked = await run(`${enter}git status --short; git diff; cat .env`, []);
    expect(looked).toBe('cat: .env: Permission denied\n');
    const work = `echo n > n.txt; git add -A && git ${AS} commit -qm n; git show --name-only --format=%s`;
    expect(await run(`${enter}${work}`, ['git_write'])).toBe('n\n\nn.txt\n');
  });

  it.each([
    ['in a base', false],
    ['with mounts of their own', true],
  ])('gives commands %s no way to another file, even by TMPDIR', async (_, isHeld) => {
    const { place, root, attempt } = await repository(['init', '-q'], isHeld);
    const key = place.path('home/.ssh/id_ed25519');
    vi.stubEnv('TMPDIR', `${root}/tmp`);
    onTestFinished(() => void vi.unstubAllEnvs());
    await place.put('workspace/repo/tmp/x', '');
    await attempt('true');
    const later = await confinedTo(place, 'workspace/repo');
    await later('touch .env.new', []);
    await later(
      `mv tmp tmp2; for d in $(ls tmp2); do mkdir -p tmp/$d; ln -s ${key} tmp/$d/gitconfig; ln -s ${key} tmp/$d/ignore; done; touch new.pem`,
      [],
    );
    expect(await readdir(`${root}/tmp2`)).toEqual(['x']);
    expect(await later('cat ~/.gitconfig ~/.config/git/ignore', [])).toMatch(
      /^\[user\]\n[\s\S]*\/new.pem\n$/,
    );
  });

  it('are removed at the next start where their bridge was killed', async () => {
    const { place, attempt } = await repository();
    await attempt('true');
    expect((await readdir(place.path('masks'))).length).toBe(1);
    removeMasks(place.path('masks'));
    removeMasks(place.path('masks'));
    await expect(readdir(place.path('masks'))).rejects.toThrow('ENOENT');
  });

  it('gives commands none where something else takes the place of our files', async () => {
    const { place, attempt } = await repository();
    const run = await confinedTo(place, 'workspace/repo');
    const mounts = await run('cat /proc/self/mountinfo', []);
    const own = place.path(/\/(masks\/\w+)\//.exec(mounts)?.[1] ?? '');
    await rm(`${own}/gitconfig`);
    await symlink(place.path('home/.ssh/id_ed25519'), `${own}/gitconfig`);
    expect(await run('touch new.pem; cat ~/.gitconfig', [])).not.toContain('secret');
    await expect(run('cat ~/.gitconfig', [])).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
    expect((await attempt('cat ~/.gitconfig')).output).toContain('[user]');
  });

  it.each([
    ['a folder', ['.env'], 'rm .env; mkdir .env; touch .env/a'],
    ['a file', ['.env/a'], 'true'],
    ['a file, and both are tracked', ['.env', '.env/a'], 'true'],
    ['a folder, and its files have one name', ['.aws/a', '.aws/a'], 'mkdir .aws; touch .aws/a'],
    ['a folder, and a file in it is one', ['.aws/a', '.aws/a/b'], 'mkdir .aws; touch .aws/a'],
  ])('that is now %s stops no command', async (_, names, change) => {
    const { root, attempt } = await repository();
    await promisify(execFile)('sh', ['-c', change], { cwd: root, ...OWNER });
    await writeFile(`${root}/.git/index`, indexOf(names));
    for (let round = 0; round < 2; round++) {
      expect((await attempt('cat .env .aws; touch new.pem; echo alive')).output).toContain('alive');
    }
  });

  it('in an index that is a bomb costs little', async () => {
    const { root, attempt } = await repository();
    for (const [count, first] of [
      [60_000, 5_000],
      [1_000_000, 4_000],
    ] as const) {
      await writeFile(`${root}/.git/index`, growingIndex(count, first));
      const before = process.memoryUsage().rss;
      expect((await attempt('cat .env')).output).toBe('cat: .env: Permission denied\n');
      expect(process.memoryUsage().rss - before).toBeLessThan(600 * 2 ** 20);
    }
  });

  it('has no more masks in all folders than in one, and leaves no part of a bad one', async () => {
    const { root } = await repository();
    const names = [1, 2, 3, 4].flatMap((at) =>
      Array.from({ length: 900 }, (_, file) => `d${at}/.aws/${file}`),
    );
    await writeFile(`${root}/.git/index`, indexOf([...names, '.aws/a', '.aws/a/b']));
    const secret = { closure: 'secret', kind: 'folder', identity: '' } as const;
    const entries = ['d1/', 'd2/', 'd3/', 'd4/', ''].map((at) => ({
      ...secret,
      path: `${root}/${at}.aws`,
    }));
    const tracked = new TrackedSecrets(() => true).look(entries);
    expect([...tracked].map(([path, files]) => [path, files.size])).toEqual([
      [`${root}/d1/.aws`, 900],
      [`${root}/d2/.aws`, 900],
      [`${root}/.aws`, 2],
    ]);
    const parent = await mkdtemp(`${root}/masks`);
    using masks = new Masks(parent);
    for (let round = 0; round < 2; round++) expect(masks.of(tracked, []).size).toBe(2);
    const [folder = ''] = await readdir(parent);
    expect(await readdir(`${parent}/${folder}`)).toHaveLength(2);
  });

  it.each([
    ['link', 'ln -s OUT/.git a/.git/modules/m'],
    ['gitdir', 'true'],
  ])('outside of the workspace changes no index, by a %s', async (way, make) => {
    const { place, root, put, attempt } = await repository();
    const outside = place.path('outside/repo');
    await mkdir(outside);
    if (OWNER.uid !== undefined) await chown(outside, OWNER.uid, OWNER.gid);
    await place.put('outside/repo/.env', 'K=1\n');
    const git = (...args: string[]) => personsGit(place, outside, args);
    await git('init', '-q');
    await git('add', '-f', '.env');
    await put('a/sub/.env', '');
    await put('a/.git/modules/x', '');
    await promisify(execFile)('sh', ['-c', make.replace('OUT', outside)], { cwd: root, ...OWNER });
    const folder = way === 'link' ? `${root}/a/.git/modules/m` : `${outside}/.git`;
    await put('a/sub/.git', `gitdir: ${folder}\n`);
    if (way === 'gitdir') await writeFile(`${outside}/.git/gitdir`, `${root}/a/sub/.git\n`);
    const before = await lstat(`${outside}/.git/index`);
    await attempt('touch new.pem');
    await attempt('cat a/sub/.env');
    const after = await lstat(`${outside}/.git/index`);
    expect([after.ino, after.ctimeMs]).toEqual([before.ino, before.ctimeMs]);
  });

  it('in an index that is a link or damaged is closed as any other', async () => {
    const { root, git, attempt } = await repository();
    for (const bytes of [Buffer.from('DIRC'), Buffer.alloc(4_000, 1), hostileIndex()]) {
      await writeFile(`${root}/.git/index`, bytes);
      const { output } = await attempt('cat .env; ls /tmp');
      expect(output).toBe('cat: .env: Permission denied\n');
    }
    await git('read-tree', 'HEAD');
    expect((await attempt('git diff --name-only')).output).toBe('');
  });
});

async function repository(init: readonly string[] = ['init', '-q'], isHeld = false) {
  const place = await freshWorkspace({ isHeld });
  const root = place.path('workspace/repo');
  await mkdir(root);
  if (OWNER.uid !== undefined) await chown(root, OWNER.uid, OWNER.gid);
  const git = (...args: string[]) => personsGit(place, root, args);
  const put = (name: string, content: string) => place.put(`workspace/repo/${name}`, content);
  await git(...init);
  await git('config', 'user.name', 'Ada');
  await git('config', 'user.email', 'ada@example.com');
  await put('.env', 'KEY=1\n');
  await put('a.txt', 'one\n');
  await git('add', '-A');
  await git('commit', '-qm', '1');
  const attempt: SandboxedWorkspace['attempt'] = (command, ...permissions) =>
    place.attempt(`cd repo && ${command}`, ...permissions);
  return { place, root, git, put, attempt, text: place.text };
}

async function personsGit({ path }: SandboxedWorkspace, cwd: string, args: readonly string[]) {
  const env = { PATH: process.env['PATH'], HOME: path('home'), GIT_CONFIG_NOSYSTEM: '1' };
  const { stdout } = await promisify(execFile)('git', [...args], { cwd, env, ...OWNER });
  return stdout;
}

/** An entry whose name would make a mask outside of the masks' folder. */
function hostileIndex(): Buffer {
  return indexOf(['.aws/../../../../../../tmp/made']);
}

/** An index of regular files of 5 bytes. */
function indexOf(names: readonly string[]): Buffer {
  const entries = names.map((name) => {
    const entry = Buffer.alloc((62 + name.length + 8) & ~7);
    entry.writeUInt32BE(0o100644, 24);
    entry.writeUInt32BE(5, 36);
    entry.writeUInt16BE(name.length, 60);
    entry.write(name, 62, 'latin1');
    return entry;
  });
  return Buffer.concat([headerOf(2, names.length), ...entries, Buffer.alloc(20)]);
}

/** Names that share all of the one before: a few bytes for each, in the form with prefixes. */
function growingIndex(count: number, first: number): Buffer {
  const entryOf = (length: number, own: number) => {
    const entry = Buffer.alloc(64 + own);
    entry.writeUInt32BE(0o100644, 24);
    entry.writeUInt16BE(Math.min(length, 0xfff), 60);
    entry.fill('a', 63, 63 + own);
    return entry;
  };
  const isGrowing = first > 4_096;
  const entries = Array.from({ length: count }, (_, at) =>
    at === 0 ? entryOf(first, first) : entryOf(isGrowing ? first + at : first, isGrowing ? 1 : 0),
  );
  return Buffer.concat([headerOf(4, count), ...entries, Buffer.alloc(20)]);
}

function headerOf(version: number, count: number): Buffer {
  const header = Buffer.from('DIRC\0\0\0\0\0\0\0\0', 'latin1');
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(count, 8);
  return header;
}
