/** `drawbridge backup` and `drawbridge restore`: the whole state of a server as one file. */

import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { namedServerDir, STATE_MARK, sharedServerDir } from '../../local/state/folder.ts';
import { listConnected, listLocations } from '../../local/state/running.ts';
import { contains } from '../../local/state/workspace.ts';
import { LocalError } from '../../machine/local-error.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { MIB, SECOND } from '../../shared/units.ts';
import { CLI_LIMITS } from '../limits.ts';
import {
  addLocationOptions,
  findServerDir,
  type LocationOptions,
} from '../target/location-options.ts';
import { printErr, printOut } from '../terminal/print.ts';
import { damageLines, linksText, namesOf } from './check.ts';

export function registerBackup(program: Command): void {
  const backup = program
    .command('backup <file>')
    .description('Write all conversations, keys and settings to a new .tar or .tar.gz file')
    .addHelpText('after', `\nThe server may run: it pauses for a moment.`);
  addLocationOptions(backup).action(backUpTo);
  program
    .command('restore <file>')
    .description('Make a new state folder from a backup')
    .option('--state <folder>', 'the new folder (default: the place of the shared server)')
    .option('--only <path>', 'put back only this database; PATH as `check` prints it')
    .action(restoreFrom);
}

async function backUpTo(path: string, options: LocationOptions): Promise<void> {
  const { backUp } = await import('../../local/backup/backup.ts');
  const file = resolve(path);
  const serverDir = await findServerDir(options);
  if (!existsSync(resolve(serverDir, STATE_MARK))) {
    throw new LocalError('refused', `There is no state in ${serverDir}: name one with --state.`);
  }
  if (existsSync(file)) {
    throw new LocalError('refused', `${file} exists: name a new file.`);
  }
  const named = options.workspace === undefined ? [] : [options.workspace];
  await requireOutside(file, [...named, ...(await listConnected(serverDir))]);
  const { files, bytes, pausedMs, lost, linksOut, check } = await backUp(serverDir, file);
  const size = `${files} files, ${(bytes / MIB).toFixed(1)} MiB`;
  const pause = pausedMs > 0 ? `; the server paused for ${pausedMs} ms` : '';
  printOut(
    `${nameInLine(file)}: ${size}${pause}. It contains keys: keep it as safe as the state itself.\n`,
  );
  if (lost.length > 0) printErr(`${lostText(lost)}\n`);
  if (linksOut.length > 0) printErr(`${linksText(linksOut)}\n`);
  if (check === null) printErr(`${UNCHECKED}\n`);
  for (const line of check ? damageLines(check) : []) printErr(`${line}\n`);
}

const UNCHECKED =
  'The backup was written, but its databases could not be checked: run `drawbridge check --state`.';

function lostText(lost: readonly string[]): string {
  return `Left out, because you may not read it or its name is not UTF-8 (${lost.length}): ${namesOf(lost)}`;
}

/** The agent in a workspace could read the keys in the backup, which approve its own calls. */
async function requireOutside(file: string, workspaces: readonly string[]): Promise<void> {
  const realPath = async (path: string) => await realpath(resolve(path)).catch(() => resolve(path));
  const folder = await realPath(dirname(file));
  const above = (await listLocations(folder)).map(({ location }) => location.workspaceDir);
  const known = [...above, ...(await Promise.all(workspaces.map(realPath)))];
  const workspace = known.find((path) => contains(path, folder));
  if (workspace === undefined) return;
  throw new LocalError(
    'refused',
    `${nameInLine(file)} would be in the workspace ${nameInLine(workspace)}, where the agent can read the keys in it: name a file elsewhere.`,
  );
}

async function restoreFrom(
  path: string,
  { state, only }: LocationOptions & { readonly only?: string },
): Promise<void> {
  const { restoreBackup, restoreFile } = await import('../../local/backup/restore.ts');
  const dir = state === undefined ? await sharedServerDir() : resolve(state);
  const now = new Date();
  if (only !== undefined) {
    const { head, kept } = await restoreFile(resolve(path), await namedServerDir(dir), only, now);
    const date = new Date(head.createdMs).toISOString();
    printOut(
      `${nameInLine(only)}: put back from the backup of ${date}. The file that was there is ${nameInLine(kept)} now. It lacks everything since the backup.\n`,
    );
    return;
  }
  const { createdMs, writtenBy } = await restoreBackup(resolve(path), dir, now);
  if (createdMs > now.getTime() + CLI_LIMITS.clockSlackMs) printErr(`${LATER}\n`);
  const from = `the backup of ${new Date(createdMs).toISOString()} (Drawbridge ${writtenBy})`;
  printOut(
    `${nameInLine(dir)}: restored from ${from}. Tool calls that were running then do not run again.\n`,
  );
  // The next restore of this backup is in another second, so its positions are others.
  await sleep(SECOND - (now.getTime() % SECOND));
}

const LATER =
  'The backup has a date in the future: the clock of this machine or of the other one is wrong. The restored state works; check the clock here.';
