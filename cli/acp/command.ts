/** `drawbridge acp`: the agent for editors that speak the Agent Client Protocol. */
import type { Command } from 'commander';
import type { Programs } from '../../local/server/worker.ts';
import { modeOption } from '../chat/options.ts';
import type { DoorOptions } from '../server/place.ts';
import { addTargetOptions } from '../target/target.ts';
import { UsageError } from '../terminal/usage-error.ts';

export function registerAcp(program: Command, programs: Programs): void {
  const command = program
    .command('acp')
    .description('Serve an editor that speaks the Agent Client Protocol, on stdin and stdout')
    .addOption(modeOption())
    .option('--login', 'sign this machine in at --url, and exit', false);
  addTargetOptions(command)
    .addHelpText('after', ABOUT)
    .action(async ({ login: isLogin, ...options }: DoorOptions & { readonly login: boolean }) => {
      if (isLogin) {
        if (options.url === undefined) throw new UsageError('--login goes with --url.');
        const { login } = await import('../people/login.ts');
        return await login(options.url, options);
      }
      // Only here: the protocol's library is loaded by no other command.
      const { serveAcp } = await import('./serve.ts');
      await serveAcp(options, programs);
    });
}

const ABOUT = `
The editor starts it: docs/editors.md has the settings of Zed and JetBrains.
Each session works in the folder that the editor has open. --workspace names
another one.`;
