/** `drawbridge check`: what in the workspace stands in the way of the bridge, each in one sentence. */
import type { Command } from 'commander';
import { locateState } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import { resolveWorkspace } from '../../local/state/workspace.ts';
import { printable } from '../../shared/plain-sight.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { EXIT, EXIT_HELP } from '../terminal/exit-codes.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { openTerminal } from '../terminal/terminal.ts';

interface CheckOptions extends LocationOptions {
  readonly mend: boolean;
}

export function registerCheck(program: Command): void {
  const command = program
    .command('check')
    .description('Look for what keeps the bridge from working in the workspace')
    .option('--mend', 'put what is found into quarantine', false)
    .addHelpText('after', EXIT_HELP);
  addLocationOptions(command).action(check);
}

async function check(options: CheckOptions): Promise<void> {
  const { findObstacles } = await import('../../bridge/quarantine/obstacles.ts');
  const { readRules } = await import('../../bridge/admission/rules.ts');
  const location = await findLocation(options, 'kept');
  const workspace = await resolveWorkspace(location.workspaceDir);
  // What is put away needs a place, also where no instance has ever run.
  const stateDir = options.mend ? (await openState(location)).dir : await locateState(location);
  const { write, writeOut } = openTerminal(process, process.env);
  const obstacles = await findObstacles({ workspace, stateDir, readRules }, options);
  for (const { sentence, isMended } of obstacles) {
    const end = isMended ? ' It is in quarantine now.' : '';
    writeOut(`${printable(sentence).replaceAll('\n', ' ')}${end}\n`);
  }
  const open = obstacles.filter(({ isMended }) => !isMended);
  if (obstacles.length === 0) write('Nothing in the workspace stands in the way.\n');
  else if (open.length > 0 && !options.mend) {
    write(`\`${ownCommand('check', '--mend')}\` puts what it can into quarantine.\n`);
  }
  if (open.length > 0) process.exitCode = EXIT.failure;
}
