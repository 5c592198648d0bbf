/** `drawbridge quarantine`: lists, shows, restores and removes what the bridge has put into quarantine. */
import type { Command } from 'commander';
import { locateState } from '../../local/state/folder.ts';
import type { StoredManifest } from '../../packages/sandbox/quarantined.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { listCommand } from '../list/list-command.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { shortLine } from '../terminal/short-line.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerQuarantine(program: Command): void {
  listCommand(program, {
    command: 'quarantine',
    noun: 'quarantine entry',
    description:
      'List, restore or remove files that the bridge moved away because they could start programs',
    listDescription: 'List all, the newest first',
    addOptions: addLocationOptions,
    open: async (options: LocationOptions) =>
      (await locateState(await findLocation(options, 'kept'))).projectDir,
    load: async (stateDir: string) => {
      const { listRecords } = await import('../../packages/sandbox/quarantined.ts');
      const { records, unreadable } = listRecords(stateDir);
      const problems = unreadable.map((id) => `${id} cannot be read: look at it by hand.`);
      return { items: records, problems };
    },
    id: ({ id }) => id,
    columns: {
      ID: ({ id }) => id,
      'PUT AWAY': ({ created }) => new Date(created),
      THINGS: ({ items }) => String(items.length),
      AFTER: ({ command }) => (command === null ? 'found later' : shortLine(command)),
    },
    empty: 'The quarantine is empty.',
    show: { description: 'Show the files, and what they would start', details },
    actions: [
      {
        name: 'restore',
        description: 'Move the files back, unless something else took their place',
        ask: { question: 'Put it back?', declined: 'Nothing was put back.' },
        run: restoreOne,
      },
      {
        name: 'discard',
        description: 'Remove the files for good',
        ask: { question: 'Remove it for good?', declined: 'Nothing was removed.' },
        done: 'Removed',
        run: async ({ id }, stateDir) => {
          const { removeRecord } = await import('../../packages/sandbox/quarantined.ts');
          await removeRecord(stateDir, id);
        },
      },
    ],
  });
}

async function restoreOne(
  record: StoredManifest,
  stateDir: string,
  terminal: Terminal,
): Promise<void> {
  const { restoreRecord } = await import('../../packages/sandbox/quarantined.ts');
  const results = await restoreRecord(stateDir, record);
  for (const result of results) {
    const end = result.state === 'restored' ? 'is back' : `stays in quarantine: ${result.reason}`;
    terminal.write(`${shortLine(result.name)} ${shortLine(end)}\n`);
  }
  if (results.some(({ state }) => state === 'stays')) process.exitCode = EXIT.failure;
}

async function details(record: StoredManifest, terminal: Terminal): Promise<void> {
  const { keptThings } = await import('../../packages/sandbox/quarantined.ts');
  for (const { item, what } of await keptThings(record)) {
    terminal.writeOut(`  ${printableLine(item.name, NAME_CHARS)}\n`);
    for (const starts of what) terminal.writeOut(`    ${printableLine(starts, NAME_CHARS)}\n`);
  }
}

/** UTF-16 units shown of a path: Linux has no longer ones. */
const NAME_CHARS = 4_096;
