import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NO_BUBBLEWRAP } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import {
  callOf,
  newConversation,
  putState,
  repositoryWith,
  startBridge,
  startIn,
} from './worktree-bridge.ts';

it('works without a sandbox, where each command needs a yes', async () => {
  const place = await repositoryWith({ '.gitignore': 'node_modules\n', 'a.txt': 'one\n' });
  await place.put('node_modules/x.js', 'x\n');
  const programs = join(place.folder, 'programs');
  await mkdir(programs);
  for (const name of ['git', 'setpriv', 'getent']) {
    if (existsSync(`/usr/bin/${name}`)) await symlink(`/usr/bin/${name}`, join(programs, name));
  }
  vi.stubEnv('PATH', programs);
  onTestFinished(() => void vi.unstubAllEnvs());
  await putState(place, 'policy.json', {
    rules: [{ tool: 'command', pattern: 'echo *', decision: 'allow' }],
  });
  const { bridge } = await startBridge(place);
  const id = newConversation();
  const opened = await bridge.call(callOf(id, 'open_worktree'));
  expect(opened.data).not.toContain('node_modules');
  expect(await bridge.run(id, 'echo in the worktree')).toContain('Sandbox: none');
  await bridge.call(callOf(id, 'write', { path: 'b.txt', contents: 'b\n' }));
  const closed = await bridge.close(id, { commit: true });
  expect(closed).toMatchObject({ committed: true, files: [{ path: 'b.txt', status: 'added' }] });
  expect(await place.git('show', `${closed.branch}:b.txt`)).toBe('b\n');
  vi.unstubAllEnvs();
  expect(await place.git('status', '--porcelain')).toBe('');
});

it('take the calls of a subagent, which name the conversation whose worktree it is', async () => {
  const { place, bridge, id } = await startIn({ 'a.txt': 'one\n' });
  await bridge.call(callOf(id, 'open_worktree'));
  const subagent = newConversation();
  const write = callOf(subagent, 'write', { path: 'b.txt', contents: 'b\n' });
  expect(await bridge.call(write)).toMatchObject({ status: 'error', code: 'WORKTREE_GONE' });
  const made = { ...callOf(subagent, 'write', { path: 'b.txt', contents: 'b\n' }), worktree: id };
  expect(await bridge.call(made)).toMatchObject({ status: 'success' });
  expect(existsSync(join(place.root, 'b.txt'))).toBe(false);
  expect((await bridge.close(id, { commit: true })).files).toMatchObject([{ path: 'b.txt' }]);
});

it('have the tools that reach the web', async () => {
  const { bridge, id } = await startIn({ 'a.txt': 'one\n' });
  await bridge.call(callOf(id, 'open_worktree'));
  const fetched = await bridge.call(callOf(id, 'web_fetch', { url: 'http://127.0.0.1/' }));
  expect(fetched).toMatchObject({ code: 'NOT_ALLOWED' });
});

describe.skipIf(NO_BUBBLEWRAP)(`a worktree ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('takes edits and commands, leaves the person’s files alone, and ends with a commit', async () => {
    const place = await repositoryWith({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' });
    await place.put('a.txt', 'the person works\n');
    const before = await place.git('status', '--porcelain');
    const { bridge, tools } = await startBridge(place);
    expect(tools).toContain('open_worktree');
    const id = newConversation();
    const opened = await bridge.open(id);
    const head = (await place.git('rev-parse', 'HEAD')).trim();
    expect(opened).toMatchObject({ base: head, uncommitted: true });
    expect(opened.branch).toMatch(/^drawbridge\/[0-9a-f]{8}$/);

    const edited = await bridge.call(
      callOf(id, 'write', { path: 'src/new.txt', contents: 'new\n' }),
    );
    expect(edited).toMatchObject({ status: 'success' });
    const byPersonsPath = { target_file: place.path('a.txt') };
    const read = await bridge.call(callOf(id, 'read_file', byPersonsPath));
    expect(read.data).toContain('one');
    const said = await bridge.run(id, 'echo 2 >> a.txt; rm src/b.txt; git log --format=%s; pwd');
    expect(said).toContain(`first\n${opened.path}`);

    const closed = await bridge.close(id, { commit: true, message: 'Better files' });
    expect(closed).toMatchObject({ branch: opened.branch, committed: true, omitted: 0 });
    expect(closed.files).toEqual([
      { path: 'a.txt', status: 'modified', added: 1, removed: 0 },
      { path: 'src/b.txt', status: 'deleted', added: 0, removed: 1 },
      { path: 'src/new.txt', status: 'added', added: 1, removed: 0 },
    ]);
    expect(closed.diff).toContain('+2\n');
    const log = await place.git('log', '--format=%an <%ae> %s', opened.branch);
    expect(log).toBe('Ada <ada@example.com> Better files\nAda <ada@example.com> first\n');
    expect(await place.git('show', `${opened.branch}:src/new.txt`)).toBe('new\n');
    expect(await place.git('rev-parse', opened.branch)).toBe(`${closed.head}\n`);
    expect(await place.git('status', '--porcelain')).toBe(before);
    expect(await place.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main\n');
    expect(await place.git('fsck', '--strict')).toBe('');
  });

  it('needs a mode and rules that let the agent edit', async () => {
    const { place, bridge } = await startIn({ 'a.txt': 'one\n' });
    const open = callOf(newConversation(), 'open_worktree');
    expect(await bridge.call({ ...open, mode: 'ask' })).toMatchObject({ code: 'DENIED' });
    await putState(place, 'policy.json', { preset: 'read-only' });
    const again = callOf(newConversation(), 'open_worktree');
    expect(await bridge.call(again)).toMatchObject({ code: 'DENIED' });
    const rules = [{ tool: 'open_worktree', decision: 'deny' }];
    await putState(place, 'policy.json', { rules });
    const third = callOf(newConversation(), 'open_worktree');
    expect(await bridge.call(third)).toMatchObject({ code: 'DENIED' });
  });
});
