import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WorktreeStore } from '../../../bridge/worktrees/store.ts';
import { NO_BUBBLEWRAP } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import { killed, spawnBridge } from '../spawned-bridge.ts';
import { ScriptedTunnel } from '../tunnel/scripted-tunnel.ts';
import {
  callOf,
  newConversation,
  type Place,
  putState,
  repositoryWith,
  startBridge,
  startIn,
  WorktreeBridge,
} from './worktree-bridge.ts';

/** A bridge in a process of its own. */
async function killable({ root, stateDir }: Place) {
  const tunnel = await ScriptedTunnel.open();
  onTestFinished(async () => await tunnel[Symbol.asyncDispose]());
  const child = spawnBridge({ url: tunnel.url, workspaceDir: root, stateDir });
  return { bridge: new WorktreeBridge(await tunnel.welcomed()), kill: () => killed(child) };
}

describe.skipIf(NO_BUBBLEWRAP)(`a bridge that is killed ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('in the middle of a setup makes the worktree from the start', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    await putState(place, 'worktrees.json', { setup: 'touch begun; sleep 60' });
    const first = await killable(place);
    const id = newConversation();
    const open = callOf(id, 'open_worktree');
    void first.bridge.call(open);
    const store = new WorktreeStore(place.stateDir);
    const { tree } = store.pathsOf(id);
    await vi.waitUntil(() => existsSync(join(tree, 'begun')), { interval: 20 });
    await first.kill();
    await putState(place, 'worktrees.json', {});
    const { bridge } = await startBridge(place);
    expect(readdirSync(store.folder)).toEqual([]);
    expect(await bridge.call(open)).toMatchObject({ status: 'success' });
    expect(await bridge.run(id, 'ls begun')).toContain('No such file');
  });

  it('in the middle of work goes on where it was, and runs no command twice', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const first = await killable(place);
    const id = newConversation();
    const { path, branch } = await first.bridge.open(id);
    const edit = callOf(id, 'write', { path: 'b.txt', contents: 'b\n' });
    expect(await first.bridge.call(edit)).toMatchObject({ status: 'success' });
    const slow: ToolCall = callOf(id, 'run_terminal_cmd', { command: 'echo x >> c.txt; sleep 60' });
    void first.bridge.call(slow);
    await vi.waitUntil(() => existsSync(join(path, 'c.txt')), { interval: 20 });
    await first.kill();
    const { bridge } = await startBridge(place);
    expect(await bridge.call(edit)).toMatchObject({ status: 'success' });
    expect(await bridge.call(slow)).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    expect(await bridge.run(id, 'cat c.txt')).toContain('Output:\nx\n');
    const closed = await bridge.close(id, { commit: true });
    expect(closed).toMatchObject({ branch, committed: true });
    expect(await place.git('status', '--porcelain')).toBe('');
  });

  it.each(['before', 'after'])('just %s its commit has landed lands it once', async (moment) => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const { bridge, end } = await startBridge(place);
    const id = newConversation();
    const { branch } = await bridge.open(id);
    await bridge.run(id, 'echo 2 >> a.txt');
    const { head } = await bridge.close(id, { commit: true });
    await end();
    const store = new WorktreeStore(place.stateDir);
    const facts = store.read(id);
    if (!facts) throw new Error('no facts');
    // What the disk has when the bridge is killed at that moment.
    store.save({ ...facts, head: null, landing: head });
    if (moment === 'before') await place.git('update-ref', '-d', `refs/heads/${branch}`);
    const next = await startBridge(place);
    await next.bridge.run(id, 'echo 3 >> a.txt');
    expect(await next.bridge.close(id, { commit: true })).toMatchObject({ committed: true });
    expect(await place.git('rev-parse', `${branch}~1`)).toBe(`${head}\n`);
  });

  it('in the middle of a look at the files takes all of them at the next one', async () => {
    const { place, bridge, id } = await startIn({ 'a.txt': 'one\n' });
    await bridge.open(id);
    await bridge.run(id, 'echo 2 >> a.txt');
    const { record } = new WorktreeStore(place.stateDir).pathsOf(id);
    writeFileSync(join(record, 'index.lock'), ''); // What git leaves when it is killed.
    expect(await bridge.close(id, { commit: true })).toMatchObject({
      committed: true,
      files: [{ path: 'a.txt' }],
    });
  });

  it('leaves a worktree alone that the next one does not understand', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n' });
    const first = await startBridge(place);
    const id = newConversation();
    const { path } = await first.bridge.open(id);
    await first.bridge.run(id, 'echo work > b.txt');
    await first.end();
    const { facts } = new WorktreeStore(place.stateDir).pathsOf(id);
    const text = readFileSync(facts, 'utf8');
    writeFileSync(facts, '{"newer":"format"}');
    const { bridge } = await startBridge(place);
    const refused = await bridge.call(callOf(id, 'open_worktree'));
    expect(refused).toMatchObject({ status: 'error', code: 'WORKTREE_FAILED' });
    expect(readFileSync(join(path, 'b.txt'), 'utf8')).toBe('work\n');
    writeFileSync(facts, text);
    expect(await bridge.open(id)).toMatchObject({ path });
  });
});
