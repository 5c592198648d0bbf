/** A folder whose edits real language servers check, in the sandbox. */
import { cp, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  carryOut,
  contextIn,
  FILE_TOOLS,
  toolsWith,
} from '../../../test/bridge/tools/temporary-workspace.ts';
import { freshWorkspace } from '../../sandbox/test/sandboxed-workspace.ts';
import { Workspace } from '../../workspace/workspace.ts';
import { confinedServers } from '../confined.ts';
import { checkingShape, EditChecks } from '../edit-checks.ts';
import { createReadLints } from '../tool.ts';
import { checkPatiently } from './patient-checks.ts';

/** Those of this clone. */
export const MODULES = resolve(import.meta.dirname, '../../../node_modules');

export const STRICT_PROJECT = {
  'tsconfig.json':
    '{"compilerOptions": {"strict": true, "noEmit": true, "module": "esnext", "moduleResolution": "bundler"}}',
};

/** A workspace with our `node_modules`, or a copy of others. */
export async function lintedWorkspace(files: Readonly<Record<string, string>>, others?: string) {
  checkPatiently();
  const place = await freshWorkspace({ readable: [MODULES] });
  const root = place.path('workspace');
  for (const [name, text] of Object.entries(files)) await place.put(`workspace/${name}`, text);
  const modules = join(root, 'node_modules');
  if (others === undefined) await symlink(MODULES, modules);
  else await cp(others, modules, { recursive: true, verbatimSymlinks: true });
  const stateDir = place.path('instances/state');
  const { confinement } = place;
  const servers = confinedServers({ root, confinement, stateDir, isDistrusted: () => false });
  onTestFinished(() => servers.end());
  const workspace = await Workspace.open(root);
  const tools = toolsWith([createReadLints(servers)], [checkingShape(new EditChecks(servers))]);
  const context = await contextIn(workspace);
  const callOf =
    (catalogue: typeof tools) => async (tool: string, args: Record<string, unknown>) => {
      const found = catalogue.get(tool);
      if (found === undefined) throw new Error(`no tool ${tool}`);
      return await carryOut(found, args, context);
    };
  const call = callOf(tools);
  /** Starts the server of a kind of file, whatever time it takes. */
  const warm = async (path: string) => await call('read_lints', { paths: [path] });
  const replace = (file_path: string, old_string: string, new_string: string) =>
    call('str_replace', { file_path, old_string, new_string });
  return {
    ...place,
    root,
    workspace,
    servers,
    call,
    callUnchecked: callOf(FILE_TOOLS),
    warm,
    replace,
  };
}
