/** `drawbridge mcp serve`: agents as tools of another agent. */
import type { Command } from 'commander';
import type { Programs } from '../../local/server/worker.ts';
import { addTargetOptions, type TargetOptions } from '../target/target.ts';

/** Adds the command to the group `mcp`. */
export function registerMcpServe(group: Command, programs: Programs): void {
  const command = group
    .command('serve')
    .description('Serve MCP on stdin and stdout: tools that start, follow and steer agents');
  addTargetOptions(command)
    .addHelpText('after', ABOUT)
    .action(async (options: TargetOptions) => {
      // Only here: the protocol's library is loaded by no other command.
      const { serveMcp } = await import('./serve.ts');
      await serveMcp({ options, programs });
    });
}

const ABOUT = `
An MCP client starts it. Agents work in the folder that it is started in, each in
a git worktree of its own. No tool approves a call or answers a question: a person
does, with "drawbridge approvals", in the page or in an editor.`;
