import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_BUBBLEWRAP } from '../sandbox/sandboxed-workspace.ts';
import {
  callOf,
  newConversation,
  personsGit,
  putState,
  repositoryWith,
  startBridge,
} from './worktree-bridge.ts';

/** So that nobody is asked about a command that may write to `.git`. */
const ALL_COMMANDS = { rules: [{ tool: 'command', pattern: '*', decision: 'allow' }] };

describe.skipIf(NO_BUBBLEWRAP)(`what an agent leaves in a worktree ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('starts no program when the bridge looks at it', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
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

  it('is told whole, but for secrets, and without other repositories', async () => {
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
        'ln -s /etc/passwd link; git init -q inner; mkfifo pipe; mkdir closed; chmod 0 closed; head -c 20 /dev/zero > bin',
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

  it('is refused where it is as large as a build, which names what to do', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
    await bridge.open(id);
    await bridge.run(id, 'truncate -s 600M huge.bin');
    const refused = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(refused).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    expect(refused.data).toContain('"huge.bin"');
    await bridge.run(id, 'rm huge.bin');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ files: [] });
  });
});

describe('a repository', () => {
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
