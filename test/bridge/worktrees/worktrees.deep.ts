import { existsSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WORKTREE_LIMITS } from '../../../bridge/worktrees/limits.ts';
import { type WorktreeFacts, WorktreeStore } from '../../../bridge/worktrees/store.ts';
import { NO_BUBBLEWRAP } from '../sandbox/sandboxed-workspace.ts';
import { expectLeft, withModule } from './left-work.ts';
import {
  callOf,
  newConversation,
  putState,
  repositoryWith,
  startBridge,
} from './worktree-bridge.ts';

it('worktrees are a bounded number, of which an idle one makes room once all of it is committed', async () => {
  const place = await repositoryWith({ 'a.txt': 'one\n' });
  const store = new WorktreeStore(place.stateDir);
  const facts: Omit<WorktreeFacts, 'conversationId'> = {
    ...{ branch: 'b', base: 'a'.repeat(40), prefix: '', objects: '/objects', uncommitted: false },
    ...{ links: [], notes: [], createdMs: 0, head: null },
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
      const place = await repositoryWith({ 'a.txt': 'one\n' });
      const { bridge } = await startBridge(place);
      const id = newConversation();
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
});
