import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { admit } from '../../../bridge/admission/admit.ts';
import { createJudge } from '../../../bridge/admission/judge.ts';
import type { Mode } from '../../../shared/wire/modes.ts';
import { FILE_TOOLS, temporaryFolder, temporaryWorkspace } from './temporary-workspace.ts';

const PLAN = '.cursor/plans/a.plan.md';

it('always asks a person, whatever the rules allow', async () => {
  const { admitted } = await bridge({
    rules: [{ tool: 'edit', pattern: '**', decision: 'allow' }],
  });
  expect(await admitted('save_plan', { path: PLAN, contents: 'x' })).toBe('ask');
});

it.each([
  ['the tool', { tool: 'save_plan', pattern: '**', decision: 'deny' }],
  ['the tool that writes', { tool: 'write', pattern: '.cursor/**', decision: 'deny' }],
  ['all edits', { tool: 'edit', pattern: '**', decision: 'deny' }],
])('obeys a rule that forbids %s', async (_, rule) => {
  const { admitted } = await bridge({ rules: [rule] });
  expect(await admitted('save_plan', { path: PLAN, contents: 'x' })).toBe('DENIED');
});

it.each([
  ['another name', '.cursor/plans/a.md'],
  ['a folder below', '.cursor/plans/b/a.plan.md'],
  ['a rule', '.cursor/rules/a.plan.md'],
  ['a way out', '.cursor/plans/../rules.plan.md'],
  ['an absolute path', '/work/.cursor/plans/a.plan.md'],
])('takes no other path: %s', async (_, path) => {
  const { admitted } = await bridge();
  expect(await admitted('save_plan', { path, contents: 'x' })).toBe('INVALID_ARGUMENTS');
});

it.each([
  ['the file', PLAN, '../../.vscode/tasks.json'],
  ['the folder', '.cursor/plans', '../.vscode'],
])('follows no link to another protected place: %s', async (_, link, target) => {
  const { root, admitted } = await bridge();
  await mkdir(join(root, '.vscode'));
  await writeFile(join(root, '.vscode/tasks.json'), '{}');
  await mkdir(dirname(join(root, link)), { recursive: true });
  await symlink(target, join(root, link));
  expect(await admitted('save_plan', { path: PLAN, contents: 'x' })).toBe('PROTECTED_PATH');
});

it('saves where a person keeps the folder, and opens it to no other tool', async () => {
  const { root, admitted } = await bridge();
  await mkdir(join(root, 'conf/cursor/plans'), { recursive: true });
  await symlink('conf/cursor', join(root, '.cursor'));
  expect(await admitted('save_plan', { path: PLAN, contents: 'x' })).toBe('ask');
  const path = 'conf/cursor/plans/a.plan.md';
  expect(await admitted('write', { path, contents: 'x' })).toBe('PROTECTED_PATH');
});

it('opens the folder to no other tool, and to no read-only mode', async () => {
  const { admitted } = await bridge();
  expect(await admitted('write', { path: PLAN, contents: 'x' })).toBe('PROTECTED_PATH');
  expect(await admitted('delete_file', { path: PLAN })).toBe('PROTECTED_PATH');
  expect(await admitted('save_plan', { path: PLAN, contents: 'x' }, 'plan')).toBe('DENIED');
});

async function bridge(policy?: object) {
  const { root, context } = await temporaryWorkspace({});
  const stateDir = await temporaryFolder();
  if (policy) await writeFile(join(stateDir, 'policy.json'), JSON.stringify(policy));
  const surroundings = { root, stateDir, isForeign: async () => false };
  const judge = createJudge(surroundings, { isConfined: false });
  const room = { workspace: context.workspace, tools: FILE_TOOLS, judge };
  /** The verdict on a call, or the code of its refusal. */
  const admitted = async (tool: string, args: Record<string, string>, mode: Mode = 'agent') => {
    const named = { callId: 'call_1', conversationId: 'conv_1' };
    const admission = await admit({ ...named, tool, arguments: args, mode }, room, undefined);
    if (admission.state === 'admitted') return admission.call.verdict.decision;
    return admission.result.status === 'error' ? admission.result.code : '';
  };
  return { root, admitted };
}
