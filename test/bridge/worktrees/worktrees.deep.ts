import { existsSync } from 'node:fs';
import { readFile, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WORKTREE_LIMITS } from '../../../bridge/worktrees/limits.ts';
import { type WorktreeFacts, WorktreeStore } from '../../../bridge/worktrees/store.ts';
import { NO_BUBBLEWRAP } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import { expectLeft, withModule } from './left-work.ts';
import {
  callOf,
  newConversation,
  putState,
  repositoryWith,
  startBridge,
  startIn,
} from './worktree-bridge.ts';

it('worktrees are a bounded number, of which an idle one makes room once all of it is committed', async () => {
  const place = await repositoryWith({ 'a.txt': 'one\n' });
  const store = new WorktreeStore(place.stateDir);
  const facts: Omit<WorktreeFacts, 'conversationId'> = {
    branch: 'b',
    base: 'a'.repeat(40),
    prefix: '',
    objects: '/objects',
    uncommitted: false,
    links: [],
    notes: [],
    createdMs: 0,
    head: null,
  };
  const ids = Array.from({ length: WORKTREE_LIMITS.maxWorktrees }, newConversation);
  for (const conversationId of ids) {
    store.begin(conversationId);
    store.save({ ...facts, conversationId });
  }
  const { bridge } = await startBridge(place);
  const id = newConversation();
  const open = () => bridge.call(callOf(id, 'open_worktree'));
  expect(await open()).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
  const [idle = ''] = ids;
  const longAgo = new Date(Date.now() - 2 * WORKTREE_LIMITS.idleMs);
  await utimes(store.pathsOf(idle).facts, longAgo, longAgo);
  expect(await open()).toMatchObject({ code: 'WORKTREE_FAILED' });
  store.saveCommitted({ ...facts, conversationId: idle });
  await utimes(store.pathsOf(idle).facts, longAgo, longAgo);
  expect(await open()).toMatchObject({ status: 'success' });
  expect(store.read(idle)).toBeUndefined();
});

describe.skipIf(NO_BUBBLEWRAP)(
  `a worktree closed right after a cancel ${NO_BUBBLEWRAP ?? ''}`,
  () => {
    const SLOW_END = 'trap "sleep 0.5; echo 2 > last.txt; exit" TERM; echo ready; sleep 60 & wait';

    it.each([
      ['its own conversation', false],
      ['a subagent', true],
    ])('holds the last writes of the command that %s had begun', async (_, isSubagent) => {
      const { bridge, id, cancel } = await runningCall(SLOW_END, isSubagent);
      cancel();
      const closed = await bridge.close(id, { commit: true });
      expect(closed).toMatchObject({ committed: true, files: [{ path: 'last.txt' }] });
    });

    it.each([
      ['removed at the end of the command', SLOW_END.replace('echo 2 > last.txt; ', ''), []],
      ['kept with what the command wrote last', SLOW_END, ['last.txt']],
    ])('is %s', async (_, command, kept) => {
      const { bridge, id, path, cancel } = await runningCall(command);
      cancel();
      expect(await bridge.call(callOf(id, 'remove_worktree'))).toMatchObject({ status: 'success' });
      expect(kept.map((name) => existsSync(join(path, name)))).toEqual(kept.map(() => true));
      expect(existsSync(path)).toBe(kept.length > 0);
    });

    it('says so where the command does not end in time, and is usable afterwards', async () => {
      const spy = vi.spyOn(WORKTREE_LIMITS as { settleMs: number }, 'settleMs', 'get');
      onTestFinished(() => spy.mockRestore());
      spy.mockReturnValue(50);
      const { bridge, id, cancel, ended } = await runningCall(SLOW_END);
      const early = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
      expect(early.data).toContain('A call still runs in it');
      expect(early.metadata).toMatchObject({ files: [] });
      cancel();
      await ended;
      expect((await bridge.close(id, { commit: true })).files).toMatchObject([
        { path: 'last.txt' },
      ]);
    });

    async function runningCall(command: string, isSubagent = false) {
      const { bridge, id } = await startIn({ 'a.txt': 'one\n' });
      const { path } = await bridge.open(id);
      const call = callOf(isSubagent ? newConversation() : id, 'run_terminal_cmd', { command });
      const { callId } = call;
      const ended = bridge.call({ ...call, worktree: isSubagent ? id : true });
      await bridge.untilOutput(callId, 'ready');
      return {
        bridge,
        id,
        path,
        ended,
        cancel: () => bridge.connection.send({ type: 'cancel', callId }),
      };
    }
  },
);

describe.skipIf(NO_BUBBLEWRAP)(`work that is in no commit ${NO_BUBBLEWRAP ?? ''}`, () => {
  const AS = '-c user.name=x -c user.email=x@y';

  it.each([
    ['a submodule', 'echo 1 > module/x.txt', 'module'],
    ['a new repository', 'git init -q in; echo 1 > in/x.txt', 'in'],
    [
      'a repository in the place of a submodule',
      `cd module; git init -q; echo 1 > x.txt; git add x.txt; git ${AS} commit -qm x`,
      'module',
    ],
    [
      'a new repository with a commit',
      `git init -q deep/in; cd deep/in; echo 1 > x.txt; git add x.txt; git ${AS} commit -qm x`,
      'deep/in',
    ],
    ['an unreadable folder of a repository', 'git init -q in; mkdir in/a; chmod 0 in/a', 'in'],
  ])('of %s is listed, and its folder stays', async (_, command, left) => {
    await expectLeft(command, left);
  });

  it('does not count what the setup has put into a submodule', async () => {
    const place = await withModule();
    await putState(place, 'worktrees.json', { setup: 'mkdir -p module/a; echo 1 > module/a/x' });
    const { bridge } = await startBridge(place);
    const id = newConversation();
    const { path } = await bridge.open(id);
    expect((await bridge.close(id, { commit: true })).left).toBeUndefined();
    await bridge.run(id, 'echo 2 >> module/a/x');
    expect((await bridge.close(id, { commit: true })).left).toEqual(['module']);
    await bridge.call(callOf(id, 'remove_worktree'));
    expect(existsSync(path)).toBe(true);
  });

  it('is refused in a repository of its own, where a file tool would write it', async () => {
    const place = await withModule();
    const { bridge } = await startBridge(place);
    const id = newConversation();
    await bridge.open(id);
    await bridge.run(id, 'git init -q in; echo 1 > in/a.txt');
    const refused = { status: 'error', code: 'NESTED_REPOSITORY' };
    for (const path of ['module/x.txt', 'module/a/b.txt', 'in/x.txt', place.path('module/y')]) {
      const write = callOf(id, 'write', { path, contents: 'x\n' });
      expect(await bridge.call(write)).toMatchObject(refused);
    }
    const rename = callOf(id, 'rename_file', { path: 'a.txt', new_path: 'in/b.txt' });
    expect(await bridge.call(rename)).toMatchObject(refused);
    const read = await bridge.call(callOf(id, 'read_file', { target_file: 'in/a.txt' }));
    expect(read).toMatchObject({ status: 'success' });
    const beside = callOf(id, 'write', { path: 'module2/x.txt', contents: 'x\n' });
    expect(await bridge.call(beside)).toMatchObject({ status: 'success' });
  });

  it('in ignored files is named, and does not keep the folder', async () => {
    const { bridge, id } = await startIn({ '.gitignore': 'dist\n*.log\n', 'a.txt': 'one\n' });
    const { path } = await bridge.open(id);
    await bridge.run(id, 'mkdir dist; echo 1 > dist/a.js; echo 2 > x.log');
    const closed = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(closed.data).toContain('Left out, because git ignores it: dist/, x.log');
    await bridge.call(callOf(id, 'remove_worktree'));
    expect(existsSync(path)).toBe(false);
  });

  it('stays when the conversation is put away, until it is committed', async () => {
    const { bridge, id } = await startIn({ 'a.txt': 'one\n' });
    const { path } = await bridge.open(id);
    await bridge.run(id, 'echo 2 >> a.txt');
    await bridge.close(id, { commit: false }); // As after a run that failed.
    await bridge.call(callOf(id, 'remove_worktree'));
    expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('one\n2\n');
    await bridge.open(id);
    expect(await bridge.close(id, { commit: true })).toMatchObject({ committed: true });
    await bridge.run(id, 'echo 3 >> a.txt');
    await bridge.call(callOf(id, 'remove_worktree'));
    expect(existsSync(path)).toBe(true);
    await bridge.close(id, { commit: true });
    await bridge.call(callOf(id, 'remove_worktree'));
    expect(existsSync(path)).toBe(false);
  });
});

describe.skipIf(NO_BUBBLEWRAP)(`a worktree ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('goes on after a close, in the same branch', async () => {
    const { place, bridge, id } = await startIn({ 'a.txt': 'one\n' });
    const { branch } = await bridge.open(id, { branch: 'feature/x' });
    expect(branch).toBe('feature/x');
    await bridge.run(id, 'echo 2 >> a.txt');
    expect(await bridge.close(id, { commit: false })).toMatchObject({ committed: false });
    const first = await bridge.close(id, { commit: true });
    expect(await bridge.open(id)).toMatchObject({ branch: 'feature/x' });
    await bridge.run(id, 'echo 3 >> a.txt');
    const second = await bridge.close(id, { commit: true });
    expect(second).toMatchObject({ committed: true, files: [{ path: 'a.txt', added: 2 }] });
    expect(second.head).not.toBe(first.head);
    expect(await bridge.close(id, { commit: true })).toEqual(second);
    expect(await place.git('rev-list', '--count', 'feature/x')).toBe('3\n');
  });

  it('is removed with its files, and its branch stays', async () => {
    const { place, bridge, id } = await startIn({ '.gitignore': 'x\n', 'a.txt': 'one\n' });
    const { branch, path } = await bridge.open(id);
    await bridge.run(id, 'echo 2 >> a.txt; mkdir -p x/y; chmod 000 x');
    await bridge.close(id, { commit: true });
    const removed = await bridge.call(callOf(id, 'remove_worktree'));
    expect(removed).toMatchObject({ status: 'success' });
    expect(existsSync(path)).toBe(false);
    expect(await bridge.call(callOf(id, 'remove_worktree'))).toMatchObject({ status: 'success' });
    expect(await bridge.call(callOf(id, 'list_dir'))).toMatchObject({ code: 'WORKTREE_GONE' });
    expect(await place.git('rev-parse', '--verify', branch)).toMatch(/^[0-9a-f]{40}\n$/);
    expect(await bridge.open(id)).toMatchObject({ branch: `${branch}-2` });
  });

  it('is apart from another one', async () => {
    const { bridge } = await startIn({ 'a.txt': 'one\n' });
    const [one, other] = [newConversation(), newConversation()];
    const [first, second] = await Promise.all([bridge.open(one), bridge.open(other)]);
    expect(first.branch).not.toBe(second.branch);
    await Promise.all([
      bridge.run(one, 'echo mine >> a.txt'),
      bridge.run(other, `cat ${first.path}/a.txt; ls ${first.path}/..; echo 2 > b.txt`),
    ]);
    expect((await bridge.close(one, { commit: true })).files).toMatchObject([{ path: 'a.txt' }]);
    expect((await bridge.close(other, { commit: true })).files).toMatchObject([{ path: 'b.txt' }]);
    expect(await bridge.run(other, `cat ${first.path}/a.txt`)).toContain('No such file');
  });

  it('links node_modules so that nothing in it can be changed', async () => {
    const place = await repositoryWith({ '.gitignore': 'node_modules\n', 'a.txt': 'one\n' });
    await place.put('node_modules/tool/index.js', 'module.exports = 1;\n');
    await place.put('node_modules/tool/.env', 'KEY=secret\n');
    await place.put('node_modules/.git/HEAD', '');
    await place.put('node_modules/tool/data.csv', 'KEY=secret\n');
    await place.put('.cursorignore', '*.csv\n');
    const { bridge } = await startBridge(place);
    const id = newConversation();
    await bridge.open(id);
    const said = await bridge.run(
      id,
      'cat node_modules/tool/index.js; echo bad > node_modules/tool/index.js; rm -rf node_modules; cat node_modules/tool/.env node_modules/tool/data.csv',
    );
    expect(said).toContain('module.exports = 1;');
    expect(said).toContain('Read-only file system');
    expect(said).not.toContain('secret');
    expect(await place.text('node_modules/tool/index.js')).toBe('module.exports = 1;\n');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ files: [] });
  });

  it('is set up by the owner’s script, whose failure ends it', async () => {
    const place = await repositoryWith({ '.gitignore': 'made\n', 'a.txt': 'one\n' });
    await putState(place, 'worktrees.json', { link: [], setup: 'echo set up; cp a.txt made' });
    const { bridge } = await startBridge(place);
    const [good, bad] = [newConversation(), newConversation()];
    const opened = await bridge.call(callOf(good, 'open_worktree'));
    expect(opened.data).toContain('set up');
    expect(await bridge.run(good, 'cat made')).toContain('one');
    await putState(place, 'worktrees.json', { setup: 'echo too bad; exit 3' });
    const failed = await bridge.call(callOf(bad, 'open_worktree'));
    expect(failed).toMatchObject({ status: 'error', code: 'SETUP_FAILED' });
    expect(failed.data).toContain('exit code 3\ntoo bad');
    expect(await bridge.call(callOf(bad, 'list_dir'))).toMatchObject({ code: 'WORKTREE_GONE' });
    await putState(place, 'worktrees.json', { link: ['../x'] });
    expect(await bridge.call(callOf(bad, 'open_worktree'))).toMatchObject({
      code: 'WORKTREE_FAILED',
    });
  });

  it('is found again by the next bridge', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const first = await startBridge(place);
    const id = newConversation();
    const opened = await first.bridge.open(id);
    await first.bridge.run(id, 'echo 2 >> a.txt');
    await first.end();
    const { bridge } = await startBridge(place);
    expect(await bridge.open(id)).toEqual(opened);
    expect(await bridge.run(id, 'cat a.txt')).toContain('one\n2\n');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ committed: true });
  });

  it('begins at another commit, and holds the workspace’s folder of a larger repository', async () => {
    const place = await repositoryWith({ 'app/a.txt': 'one\n', 'other/b.txt': 'b\n' });
    await place.put('app/a.txt', 'later\n');
    await place.git('commit', '-qam', 'second');
    const { bridge } = await startBridge({ ...place, root: place.path('app') });
    const id = newConversation();
    const { base, branch, path } = await bridge.open(id, { base: 'main~1' });
    expect(`${base}\n`).toBe(await place.git('rev-parse', 'main~1'));
    const said = await bridge.run(id, 'cat a.txt; echo 2 > c.txt; git log --format=%s; ls ..');
    expect(said).toContain('one\nfirst\n');
    expect(said).not.toContain('other');
    const { files } = await bridge.close(id, { commit: true });
    expect(files).toEqual([{ path: 'app/c.txt', status: 'added', added: 1, removed: 0 }]);
    expect(await readFile(join(path, 'c.txt'), 'utf8')).toBe('2\n');
    const names = await place.git('ls-tree', '-r', '--name-only', branch);
    expect(names).toBe('app/a.txt\napp/c.txt\nother/b.txt\n');
  });

  it('knows a branch that is taken, a base that is not there, and a folder without a repository', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    await place.git('branch', 'taken');
    await place.git('branch', 'deep/er');
    const { bridge, end } = await startBridge(place);
    const codeOf = async (args: Record<string, unknown>) => {
      const result = await bridge.call(callOf(newConversation(), 'open_worktree', args));
      return result.status === 'error' ? result.code : 'opened';
    };
    expect(await codeOf({ branch: 'taken' })).toBe('BRANCH_TAKEN');
    expect(await codeOf({ branch: 'deep' })).toBe('BRANCH_TAKEN');
    expect(await codeOf({ branch: 'taken/below' })).toBe('BRANCH_TAKEN');
    expect(await codeOf({ branch: 'a..b' })).toBe('INVALID_ARGUMENTS');
    expect(await codeOf({ branch: '--force' })).toBe('INVALID_ARGUMENTS');
    expect(await codeOf({ base: 'nowhere' })).toBe('BASE_NOT_FOUND');
    expect(await codeOf({ branch: 'deep/other', base: 'taken' })).toBe('opened');
    const id = newConversation();
    await bridge.open(id, { branch: 'raced' });
    await bridge.run(id, 'echo 2 >> a.txt');
    await place.git('branch', 'raced');
    const closed = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
    expect(closed).toMatchObject({ status: 'error', code: 'BRANCH_TAKEN' });
    await place.git('branch', '-D', 'raced');
    expect(await bridge.close(id, { commit: true })).toMatchObject({ committed: true });
    await end();
    await rm(place.path('.git'), { recursive: true });
    const { bridge: without } = await startBridge(place);
    const refused = await without.call(callOf(newConversation(), 'open_worktree'));
    expect(refused).toMatchObject({ status: 'error', code: 'NOT_A_REPOSITORY' });
  });
});
