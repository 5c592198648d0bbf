import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { WorktreeStore } from '../../../bridge/worktrees/store.ts';
import { NO_BUBBLEWRAP } from '../sandbox/sandboxed-workspace.ts';
import {
  callOf,
  newConversation,
  personsGit,
  repositoryWith,
  startBridge,
} from './worktree-bridge.ts';

describe.skipIf(NO_BUBBLEWRAP)(`what an agent leaves in a worktree ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('is not committed as long as git cannot read a part of it', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
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
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const { branch } = await bridge.open(id);
    await bridge.run(id, 'echo 2 >> a.txt; printf "%04000d" 0 > .gitattributes');
    const refused = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(refused).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    await bridge.run(id, 'rm .gitattributes');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ committed: true });
    expect(await place.git('rev-list', '--count', `main..${branch}`)).toBe('1\n');
  });

  it('is removed while a command works in it, and what that leaves goes later', async () => {
    const place = await repositoryWith({ '.gitignore': 'd\n', 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
    const [id, other] = [newConversation(), newConversation()];
    const { path } = await bridge.open(id);
    await bridge.open(other);
    const running = bridge.run(
      id,
      'i=0; while [ $i -lt 60 ]; do i=$((i+1)); mkdir -p d/$i; echo x > d/$i/f; done 2>/dev/null',
    );
    await vi.waitUntil(() => existsSync(join(path, 'd/9')), { timeout: 20_000, interval: 20 });
    expect(await bridge.call(callOf(id, 'remove_worktree'))).toMatchObject({ status: 'success' });
    await running;
    await bridge.call(callOf(other, 'remove_worktree'));
    expect(readdirSync(new WorktreeStore(place.stateDir).folder)).toEqual([]);
  });

  it('is refused where it is as large as a build, which names what to do', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
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
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge } = await startBridge(place);
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
