/** The tools for commands without a sandbox, in a folder of their own, for a file whose tests share them. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createCommandTools } from '../../../bridge/commands/feature.ts';
import { ReadLedger } from '../../../packages/host/ledger.ts';
import type { ToolContext } from '../../../packages/host/tool.ts';
import { unconfined } from '../../../packages/sandbox/launch/confinement.ts';
import { BackgroundProcesses } from '../../../packages/sandbox/terminal/background.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import { carryOut } from '../tools/temporary-workspace.ts';

export const background = new BackgroundProcesses();
let root: string;
export let context: ToolContext;
export let tools: ReturnType<typeof createCommandTools>;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-test-')));
  const workspace = await Workspace.open(root);
  context = {
    workspace,
    places: [await workspace.resolve('.', 'read')],
    ledger: new ReadLedger(),
    mayRepeat: false,
    isReviewed: false,
    signal: new AbortController().signal,
    conversationId: 'conv_test',
    callId: 'call_test',
    onOutput: () => {},
    elicit: async () => ({ decision: 'expired' }),
  };
  const surroundings = {
    workspace: root,
    home: root,
    closedFolders: [],
    maskFolder: '/tmp/masks',
    environment: process.env,
  };
  tools = createCommandTools({ confinement: unconfined(surroundings, 'a test'), background });
});
afterAll(async () => {
  await background.endAll();
  await rm(root, { recursive: true });
});

export async function call(
  name: string,
  args: Record<string, unknown>,
  changes: Partial<ToolContext> = {},
  among: typeof tools = tools,
): Promise<ToolResult> {
  const tool = among.find(({ definition }) => definition.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return await carryOut(tool, args, { ...context, ...changes });
}

/** Starts a command in the background, and resolves with its `process_id`. */
export async function start(command: string, changes: Partial<ToolContext> = {}): Promise<string> {
  const args = { command, is_background: true };
  const { metadata } = await call('run_terminal_cmd', args, changes);
  return String(metadata?.['process_id']);
}
