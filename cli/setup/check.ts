/** `drawbridge check`: names each thing in the workspace that keeps the bridge from working, in one sentence. */
import type { Command } from 'commander';
import { locateState } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import { resolveWorkspace } from '../../local/state/workspace.ts';
import { configFolder } from '../../machine/config-folder.ts';
import { printable } from '../../shared/text/plain-sight.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from '../target/location-options.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { openTerminal } from '../terminal/terminal.ts';

interface CheckOptions extends LocationOptions {
  readonly repair: boolean;
}

export function registerCheck(program: Command): void {
  const command = program
    .command('check')
    .description('Find what in the workspace keeps the bridge from working')
    .option('--repair', 'move what is found into quarantine', false);
  addLocationOptions(command).action(check);
}

async function check(options: CheckOptions): Promise<void> {
  const { findObstacles } = await import('../../bridge/quarantine/obstacles.ts');
  const { readRules } = await import('../../bridge/admission/rules.ts');
  const location = await findLocation(options, 'kept');
  const workspace = await resolveWorkspace(location.workspaceDir);
  // Quarantine needs a state folder, even if no instance has ever run here.
  const { projectDir: stateDir } = await (options.repair ? openState : locateState)(location);
  const { write, writeOut } = openTerminal(process, process.env);
  const obstacles = await findObstacles(
    { workspace, stateDir, configDir: configFolder(process.env), readRules },
    { mayMove: options.repair },
  );
  for (const { sentence, isPutAway } of obstacles) {
    const end = isPutAway ? ' It is in quarantine now.' : '';
    writeOut(`${printable(sentence).replaceAll('\n', ' ')}${end}\n`);
  }
  const open = obstacles.filter(({ isPutAway }) => !isPutAway);
  if (obstacles.length === 0) write('Nothing in the workspace keeps the bridge from working.\n');
  else if (open.length > 0 && !options.repair) {
    const repair = ownCommand('check', '--repair', ...locationWordsOf(options));
    write(`\`${repair}\` moves what it can into quarantine.\n`);
  }
  if (open.length > 0) process.exitCode = EXIT.failure;
}
