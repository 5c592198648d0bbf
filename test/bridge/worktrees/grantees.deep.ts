import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readAudit } from '../../../bridge/grantees/audit.ts';
import type { AccountGrant } from '../../../shared/wire/grants.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import {
  callOf,
  newConversation,
  putState,
  repositoryWith,
  startBridge,
} from './worktree-bridge.ts';

async function machine(...grants: readonly Partial<AccountGrant>[]) {
  const place = await repositoryWith({ 'a.txt': 'a\n' });
  const since = new Date().toISOString();
  const allow = (...given: readonly Partial<AccountGrant>[]) =>
    putState(place, 'grants.json', {
      grants: given.map((grant) => ({ preset: 'workspace', since, ...grant })),
    });
  await allow(...grants);
  const { bridge } = await startBridge(place);
  return { place, bridge, allow };
}

/** A call in the folder itself. */
function here(
  conversationId: string,
  grantee: string | undefined,
  tool: string,
  args: object = {},
): ToolCall {
  const { worktree: _, ...call } = callOf(conversationId, tool, { ...args });
  return { ...call, ...(grantee !== undefined && { grantee }) };
}

test('a read-only grant for worktrees reads in its worktree, changes nothing, and never meets the folder', async () => {
  const { bridge, place } = await machine({
    name: 'app:shop',
    preset: 'read-only',
    worktrees: true,
  });
  await place.put('a.txt', 'a draft of the owner\n');
  const conversation = newConversation();
  const grantee = 'app:shop:42';
  const apart = (tool: string, args: Record<string, unknown> = {}) =>
    bridge.call({ ...callOf(conversation, tool, args), grantee });
  const read = { target_file: 'a.txt' };
  expect(await bridge.call(here(conversation, grantee, 'read_file', read))).toMatchObject({
    code: 'WORKTREE_REQUIRED',
  });
  expect(await apart('open_worktree')).toMatchObject({ status: 'success' });
  const { data } = await apart('read_file', read);
  expect([data.includes('a draft'), data.includes('a')]).toEqual([false, true]);
  expect(await apart('write', { file_path: 'b.txt', contents: 'b' })).toMatchObject({
    code: 'DENIED',
  });
  expect(await apart('run_terminal_cmd', { command: 'ls' })).toMatchObject({ code: 'DENIED' });
  const other = { ...callOf(newConversation(), 'read_file', read), worktree: conversation };
  expect(await bridge.call({ ...other, grantee: 'app:shop:43' })).toMatchObject({
    code: 'NOT_GRANTED',
  });
  expect(
    (await readAudit(place.stateDir)).map((each) => 'outcome' in each && each.outcome),
  ).toEqual([...['WORKTREE_REQUIRED', 'success', 'success', 'DENIED', 'DENIED', 'NOT_GRANTED']]);
});

test('what one account does, no other one takes back, reads on or ends', async () => {
  const { bridge, place } = await machine({ name: 'ben' }, { name: 'cleo' });
  const [anas, bens, cleos] = [newConversation(), newConversation(), newConversation()];
  const write = here(anas, undefined, 'write', { file_path: 'b.txt', contents: 'of ana\n' });
  expect(await bridge.call(write)).toMatchObject({ status: 'success' });
  for (const [conversation, grantee] of [
    [bens, 'ben'],
    [cleos, 'cleo'],
  ] as const) {
    for (const scope of ['call', 'last', 'response', 'since', 'redo']) {
      const undo = here(conversation, grantee, 'undo_changes', { scope, id: write.callId });
      expect(await bridge.call(undo)).toMatchObject({ code: 'NOTHING_TO_UNDO' });
      const preview = here(conversation, grantee, 'preview_undo', { scope, id: write.callId });
      expect(await bridge.call(preview)).toMatchObject({ code: 'NOTHING_TO_UNDO' });
    }
  }
  expect(await place.text('b.txt')).toBe('of ana\n');
  const bensWrite = here(bens, 'ben', 'write', { file_path: 'c.txt', contents: 'of ben\n' });
  expect(await bridge.call(bensWrite)).toMatchObject({ status: 'success' });
  const taken = here(bens, 'ben', 'undo_changes', { scope: 'call', id: bensWrite.callId });
  expect(await bridge.call(taken)).toMatchObject({ status: 'success' });
  expect(await place.text('c.txt')).toBeUndefined();
  const forged = here(anas, 'ben', 'read_process', {});
  expect(await bridge.call(forged)).toMatchObject({ code: 'NOT_GRANTED' });
});

test('an ended grant ends what its account left in the background, and nothing of others', async () => {
  const { bridge, place, allow } = await machine(
    { name: 'ben', preset: 'trusted' },
    { name: 'cleo', preset: 'trusted' },
  );
  await putState(place, 'policy.json', { rules: [{ tool: 'command', decision: 'allow' }] });
  const conversations = { ben: newConversation(), cleo: newConversation() };
  for (const [name, conversation] of Object.entries(conversations)) {
    const started = here(conversation, name, 'run_terminal_cmd', {
      command: 'sleep 600',
      is_background: true,
    });
    expect(await bridge.call(started)).toMatchObject({ status: 'success' });
  }
  const running = async () =>
    (await bridge.processes()).filter((each) => each.running).map((each) => each.conversationId);
  expect(await running()).toHaveLength(2);
  const peek = here(conversations.cleo, 'cleo', 'read_process');
  const { data } = await bridge.call(peek);
  expect(data.match(/proc_/g)).toHaveLength(1);
  const [bens] = (await bridge.processes()).filter(
    (each) => each.conversationId === conversations.ben,
  );
  const stop = { process_id: bens?.id, stop: true };
  const stolen = here(conversations.cleo, 'cleo', 'control_process', stop);
  expect(await bridge.call(stolen)).toMatchObject({ status: 'error' });
  expect(await running()).toHaveLength(2);
  await allow({ name: 'cleo', preset: 'trusted' });
  await vi.waitFor(async () => expect(await running()).toEqual([conversations.cleo]));
});

test('an ended grant is reported to the edge, and a new one opens the folder without a restart', async () => {
  const { bridge, place, allow } = await machine({ name: 'ben' });
  const conversation = newConversation();
  const read = () => bridge.call(here(conversation, 'ben', 'read_file', { target_file: 'a.txt' }));
  expect(await read()).toMatchObject({ status: 'success' });
  await unlink(join(place.stateDir, 'grants.json'));
  expect(await read()).toMatchObject({ code: 'NOT_GRANTED' });
  await allow({ name: 'ben' }, { name: 'cleo' });
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'success' }));
});

test('a look for another account has nothing of the owner, and of a folder that is closed to it nothing at all', async () => {
  const { bridge, place } = await machine({ name: 'ben' }, { name: 'cleo', worktrees: true });
  await putState(place, 'rules.md', 'Words of the owner.');
  await place.put('AGENTS.md', 'Rules of the folder.');
  const looked = async (grantee: string | undefined, conversationId = newConversation()) => {
    const mention = { type: 'path' as const, path: 'a.txt', isCertain: true };
    const message = { conversationId, mentions: [mention] };
    return await bridge.look({ message, ...(grantee !== undefined && { grantee }) });
  };
  const [ana, ben] = [await looked(undefined), await looked('ben')];
  const [cleo, eve] = [await looked('cleo'), await looked('eve')];
  expect(JSON.stringify(ana)).toContain('Words of');
  expect(JSON.stringify(ben)).not.toContain('Words of');
  expect(JSON.stringify(ben)).toContain('Rules of the folder');
  expect(ben.context.projectLayout).toContain('a.txt');
  expect(ben.findings?.attachments).toMatchObject([{ type: 'file', name: 'a.txt' }]);
  for (const closed of [cleo, eve]) {
    expect(closed.context).toMatchObject({ projectLayout: '' });
    expect(closed.context.gitStatus).toBeUndefined();
    expect(closed.findings?.attachments ?? []).toMatchObject([{ type: 'none' }]);
  }
  expect(eve.context.rules).toBeUndefined();
});
