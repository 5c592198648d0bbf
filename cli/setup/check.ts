/**
 * `drawbridge check`: names each thing in the workspace that keeps the bridge from working, in one sentence; with a
 * state alone, each of its databases that is damaged.
 */
import type { Command } from 'commander';
import type { BackupReport } from '../../local/backup/backup.ts';
import type { StorageCheck } from '../../local/check/check-storage.ts';
import { locateState, namedServerDir } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import { resolveWorkspace } from '../../local/state/workspace.ts';
import { configFolder } from '../../machine/config-folder.ts';
import { nameInLine, printable } from '../../shared/text/plain-sight.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from '../target/location-options.ts';
import { askFirst } from '../terminal/confirm.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { openTerminal } from '../terminal/terminal.ts';

interface CheckOptions extends LocationOptions {
  readonly repair: boolean;
  readonly erase?: string;
  readonly yes: boolean;
}

export function registerCheck(program: Command): void {
  const command = program
    .command('check')
    .description('Check a workspace for files that stop the bridge, or a state folder for damage')
    .option('--repair', 'move these files into quarantine', false)
    .option(
      '--erase <account>',
      'with --state: remove an account that is damaged, while no server runs',
    )
    .option('--yes', 'erase without a question', false);
  addLocationOptions(command).action(check);
}

async function check(options: CheckOptions): Promise<void> {
  if (options.state !== undefined && options.workspace === undefined && !options.repair) {
    const serverDir = await namedServerDir(options.state);
    if (options.erase !== undefined) return await erase(serverDir, options.erase, options.yes);
    return await checkFiles(serverDir);
  }
  const { findObstacles } = await import('../../packages/sandbox/quarantined.ts');
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
  if (obstacles.length === 0) write('Nothing in the workspace stops the bridge.\n');
  else if (open.length > 0 && !options.repair) {
    const repair = ownCommand('check', '--repair', ...locationWordsOf(options));
    write(`\`${repair}\` moves what it can into quarantine.\n`);
  }
  if (open.length > 0) process.exitCode = EXIT.failure;
}

async function erase(serverDir: string, account: string, yes: boolean): Promise<void> {
  const { eraseAccount } = await import('../../local/backup/backup.ts');
  const terminal = openTerminal(process, process.env);
  await eraseAccount(serverDir, account, async (files) => {
    const countOf = (kind: string) => files.filter((file) => file.kind === kind).length;
    const what = `${countOf('conversation')} conversations and ${countOf('bridge')} bridges`;
    terminal.write(`${printable(account)}: ${what}\n`);
    if (yes) return;
    await askFirst(terminal, 'Remove them with the account, for good?', {
      unasked: 'add --yes to remove them without a question.',
      otherwise: 'Nothing was removed.',
    });
  });
  terminal.write(
    'Removed. Tokens without a session stay valid: suspend the account to refuse them.\n',
  );
}

async function checkFiles(serverDir: string): Promise<void> {
  const { checkState } = await import('../../local/backup/backup.ts');
  const found = await checkState(serverDir);
  const { write, writeOut } = openTerminal(process, process.env);
  for (const line of damageLines(found)) writeOut(`${line}\n`);
  if (found.linksOut.length > 0) write(`${linksText(found.linksOut)}\n`);
  if (found.damaged.length > 0) process.exitCode = EXIT.failure;
  else write(`${found.files} databases: none is damaged.\n`);
}

/** What is to be done about links that lead out of a state. */
export function linksText(linksOut: BackupReport['linksOut']): string {
  const names = namesOf(linksOut.map(({ path, target }) => `${path} to ${target}`));
  return `Links that lead out of the state (${linksOut.length}): ${names}. Their targets are in no backup and were not checked, and \`restore\` refuses a backup with such a link: replace it by the files themselves.`;
}

/** The first of these paths, for a person. */
export function namesOf(paths: readonly string[]): string {
  const more = paths.length > SHOWN_NAMES ? ', …' : '';
  return `${paths.slice(0, SHOWN_NAMES).map(nameInLine).join(', ')}${more}`;
}

/** More than a person reads. */
const SHOWN_NAMES = 5;

/** What a check has found, a line each. */
export function damageLines({ damaged, left }: StorageCheck): string[] {
  const lines = damaged.map(({ path, what, problem }) => `Damaged: ${what} (${path}): ${problem}`);
  if (damaged.length > 0) {
    lines.push(
      'Damaged files stay as they are. While no server runs, `drawbridge restore BACKUP --state DIR --only PATH` puts one file back from a backup, and `drawbridge check --state DIR --erase ACCOUNT` removes all files of an account.',
    );
  }
  lines.push(
    ...left.map(
      ({ path, conversation, account }) =>
        `Left behind: ${conversation} of the account ${account}, which was deleted (${path}): \`check --state DIR --erase\` removes it.`,
    ),
  );
  return lines.map((line) => printable(line).replaceAll('\n', ' '));
}
