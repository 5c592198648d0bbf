/** `drawbridge quarantine`: lists, shows, restores and removes what the bridge has put into quarantine. */
import type { Command } from 'commander';
import type { StoredManifest } from '../../bridge/quarantine/store.ts';
import { locateState } from '../../local/state/folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { askFirst } from '../terminal/confirm.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';

interface QuarantineChangeOptions extends LocationOptions {
  readonly yes: boolean;
}

/** Adds the command, which lists if no subcommand is given. */
export function registerQuarantine(program: Command): void {
  const group = program
    .command('quarantine')
    .description(
      'List, restore or remove files that the bridge put away because they could start programs',
    )
    .addHelpText('after', `\nWithout a command, it lists what is in quarantine.`);
  const list = group.command('list', { isDefault: true }).description('List all, the newest first');
  addLocationOptions(list).action(listAll);
  const show = group.command('show <id>').description('Show the files, and what they would start');
  addLocationOptions(show).action(showOne);
  const restore = group
    .command('restore <id>')
    .description('Put the files back where they were, if nothing else is there now')
    .option('-y, --yes', 'do not ask first', false);
  addLocationOptions(restore).action(restoreOne);
  const discard = group
    .command('discard <id>')
    .description('Remove the files for good')
    .option('-y, --yes', 'do not ask first', false);
  addLocationOptions(discard).action(discardOne);
}

async function listAll(options: LocationOptions): Promise<void> {
  const { listRecords } = await import('../../bridge/quarantine/store.ts');
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  const { records, unreadable } = listRecords(projectDir);
  const terminal = openTerminal(process, process.env);
  for (const record of records) terminal.writeOut(`${lineOf(record)}\n`);
  for (const id of unreadable) terminal.write(`${id} cannot be read: look at it by hand.\n`);
  if (records.length + unreadable.length === 0) terminal.write('The quarantine is empty.\n');
}

async function showOne(id: string, options: LocationOptions): Promise<void> {
  const { record } = await find(id, options);
  await describe(openTerminal(process, process.env), record);
}

async function restoreOne(id: string, options: QuarantineChangeOptions): Promise<void> {
  const { record, stateDir } = await find(id, options);
  const terminal = openTerminal(process, process.env);
  await describe(terminal, record);
  if (!options.yes) {
    const unasked = '--yes puts it back without asking.';
    await askFirst(terminal, 'Put it back?', { unasked, otherwise: 'Nothing was put back.' });
  }
  const { restoreRecord } = await import('../../bridge/quarantine/restoring.ts');
  const results = await restoreRecord(stateDir, record);
  for (const result of results) {
    const end = result.state === 'restored' ? 'is back' : `stays in quarantine: ${result.reason}`;
    terminal.write(`${shortLine(result.name)} ${shortLine(end)}\n`);
  }
  if (results.some(({ state }) => state === 'stays')) process.exitCode = EXIT.failure;
}

async function discardOne(id: string, options: QuarantineChangeOptions): Promise<void> {
  const { record, stateDir } = await find(id, options);
  if (!options.yes) {
    const terminal = openTerminal(process, process.env);
    await describe(terminal, record);
    const unasked = '--yes removes it without asking.';
    const otherwise = 'Nothing was removed.';
    await askFirst(terminal, 'Remove it for good?', { unasked, otherwise });
  }
  const { removeRecord } = await import('../../bridge/quarantine/store.ts');
  await removeRecord(stateDir, record.id);
}

async function find(
  id: string,
  options: LocationOptions,
): Promise<{ record: StoredManifest; stateDir: string }> {
  const { listRecords } = await import('../../bridge/quarantine/store.ts');
  const { projectDir: stateDir } = await locateState(await findLocation(options, 'kept'));
  const record = listRecords(stateDir).records.find((other) => other.id === id);
  if (record) return { record, stateDir };
  throw new LocalError(
    'refused',
    `There is no ${shortLine(id)} in quarantine: "quarantine list" shows the ids.`,
  );
}

async function describe(terminal: Terminal, record: StoredManifest): Promise<void> {
  const { keptThings } = await import('../../bridge/quarantine/restoring.ts');
  terminal.writeOut(`${lineOf(record)}\n`);
  for (const { item, what } of await keptThings(record)) {
    terminal.writeOut(`  ${printableLine(item.name, NAME_CHARS)}\n`);
    for (const starts of what) terminal.writeOut(`    ${printableLine(starts, NAME_CHARS)}\n`);
  }
}

function lineOf({ id, created, items, command }: StoredManifest): string {
  const things = items.length === 1 ? '1 thing' : `${items.length} things`;
  const after = command === null ? 'found later' : `after: ${shortLine(command)}`;
  return [id, created, things, after].join('  ');
}

/** UTF-16 units shown of a path: Linux has no longer ones. */
const NAME_CHARS = 4_096;
