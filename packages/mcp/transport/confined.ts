/** Starts MCP servers that their owner wants in the sandbox, as commands are started there. */
import { resolve } from 'node:path';
import { shellWord } from '../../../machine/shell-word.ts';
import type { Confinement, WorkspaceGuard } from '../../sandbox/index.ts';
import type { StdioConfig } from '../server-list.ts';
import type { ProgramStart } from './stdio-transport.ts';

/** The sandbox of a bridge, and what looks after its workspace. */
export interface ServerSandbox {
  readonly confinement: Confinement;
  readonly guard: WorkspaceGuard;
}

/** Of a server with `sandbox`. Its start rejects where there is no sandbox: it never runs outside. */
export function confinedStart(
  { command, args, env, cwd = '.' }: StdioConfig,
  workspace: string,
  sandbox: ServerSandbox | undefined,
): ProgramStart {
  return async (spawn) => {
    if (sandbox === undefined || sandbox.confinement.kind === 'none') {
      const why = sandbox?.confinement.detail ?? 'only the bridge has one';
      throw new Error(`it is to run in the sandbox, and there is none (${why})`);
    }
    const { confinement, guard } = sandbox;
    const line = ['exec', ...[command, ...args].map(shellWord)].join(' ');
    const request = {
      command: line,
      cwd: resolve(workspace, cwd),
      permissions: [],
      isServer: true,
      variables: env,
    };
    const guarded = await guard.begins(line);
    try {
      const ended = await confinement.start(request, async ({ launch }) => ({
        ended: spawn(launch),
      }));
      void guarded.leaves(ended.ended).then((found) => guard.reportAgain(found));
    } catch (error) {
      await guarded.ended();
      throw error;
    }
  };
}
