/** A real folder with files, opened as a workspace, that goes away with the test. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createFileTools } from '../../../bridge/tools/catalogue.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { createReadLints } from '../../../packages/code-checks/tool.ts';
import { codebaseSearching } from '../../../packages/code-index/tool.ts';
import type { EditShape } from '../../../packages/host/edit-shape.ts';
import { ReadLedger } from '../../../packages/host/ledger.ts';
import { type BridgeTool, type ToolContext, toErrorResult } from '../../../packages/host/tool.ts';
import { type ResolvedPath, Workspace } from '../../../packages/workspace/workspace.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';

/** The tools of a bridge without commands, index and language servers. One of `more` takes the place of another. */
export function toolsWith(
  more: readonly BridgeTool[] = [],
  shapes: readonly EditShape[] = [],
): ReadonlyMap<string, BridgeTool> {
  const plain = [codebaseSearching(), createReadLints(undefined)];
  const tools = [...createFileTools(shapes), ...plain, ...more];
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

export const FILE_TOOLS = toolsWith();

export interface TemporaryWorkspace {
  readonly root: string;
  readonly context: ToolContext;
  /** The absolute path of a name in the workspace. */
  readonly path: (name: string) => string;
  readonly text: (name: string) => Promise<string>;
  readonly put: (name: string, content: string | Uint8Array) => Promise<void>;
  readonly call: (
    tool: string,
    args: Record<string, unknown>,
    changes?: Partial<ToolContext>,
  ) => Promise<ToolResult>;
  /** The same, but only the code of a failure, or `success`. */
  readonly codeOf: (...call: Parameters<TemporaryWorkspace['call']>) => Promise<string>;
}

/** Makes a workspace `repo` with these files, beside which a test may put what is outside. */
export async function temporaryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<TemporaryWorkspace> {
  const parent = await temporaryFolder();
  const root = join(parent, 'repo');
  const put = async (name: string, content: string | Uint8Array) => {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  };
  await mkdir(root);
  for (const [name, content] of Object.entries(files)) await put(name, content);
  const workspace = await Workspace.open(root);
  const context = await contextIn(workspace);
  const call: TemporaryWorkspace['call'] = (tool, args, changes = {}) => {
    const found = FILE_TOOLS.get(tool);
    if (found === undefined) throw new Error(`no tool ${tool}`);
    return carryOut(found, args, { ...context, ...changes });
  };
  return {
    root,
    context,
    put,
    path: (name) => join(root, name),
    text: (name) => readFile(join(root, name), 'utf8'),
    call,
    codeOf: async (...made) => {
      const result = await call(...made);
      return result.status === 'error' ? result.code : result.status;
    },
  };
}

/** A call without a question, as admission carries it out. */
export async function carryOut(
  { definition, read }: BridgeTool,
  given: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolResult> {
  const { workspace, signal } = context;
  try {
    signal.throwIfAborted();
    const { paths, propose } = read(given, context.conversationId);
    const access = definition.effect === 'write' ? 'write' : 'read';
    const [first = '.', ...more] = paths;
    const places = [await workspace.resolve(first, access)] as [ResolvedPath, ...ResolvedPath[]];
    for (const path of more) places.push(await workspace.resolve(path, access));
    const admitted = { ...context, places };
    return await (await propose(admitted)).apply(admitted);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolFailure) return toErrorResult(error);
    throw error;
  }
}

/** A folder of its own, resolved, removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Of a call that nobody is asked about. */
export async function contextIn(workspace: Workspace): Promise<ToolContext> {
  return {
    workspace,
    places: [await workspace.resolve('.', 'read')],
    ledger: new ReadLedger(),
    mayRepeat: false,
    elicit: async () => ({ decision: 'expired' }),
    signal: new AbortController().signal,
    callId: 'call_test',
    conversationId: 'conv_test',
    isReviewed: false,
    onOutput: () => {},
  };
}
