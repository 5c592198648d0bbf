import { expect, it } from 'vitest';
import { Rooms } from '../../../bridge/worktrees/rooms.ts';
import { unconfined } from '../../../packages/sandbox/launch/confinement.ts';
import { temporaryWorkspace } from '../tools/temporary-workspace.ts';

it('a machine without git has no worktrees, and no call into one reaches the workspace', async () => {
  const { root, context } = await temporaryWorkspace();
  const { workspace } = context;
  const surroundings = { workspace: root, home: root, closedFolders: [], maskFolder: root };
  const confinement = unconfined({ ...surroundings, environment: {} }, 'a test');
  const judgeIn = () => async () => ({ decision: 'allow', reason: 'the test says so' }) as const;
  const rooms = new Rooms({
    workspace: { kind: 'workspace', workspace, confinement },
    furnishing: { features: [], judgeIn },
  });
  expect(rooms.workspace.toolNames).toContain('write');
  expect(rooms.workspace.toolNames).not.toContain('open_worktree');
  const conversationId = '11111111-1111-4111-8111-111111111111';
  const call = {
    callId: 'call',
    conversationId,
    tool: 'write',
    arguments: {},
    mode: 'agent',
  } as const;
  expect(await rooms.of(call)).toBe(rooms.workspace);
  for (const worktree of [true, conversationId] as const)
    await expect(rooms.of({ ...call, worktree })).rejects.toMatchObject({ code: 'WORKTREE_GONE' });
});
