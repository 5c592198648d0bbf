/** Offers root to give a folder of root's to an ordinary user, so that commands run in a sandbox. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { StatePlace } from '../../local/state/folder.ts';
import { readBridgeId } from '../../local/state/state.ts';
import { ownerCommand, ownerLine } from '../../machine/ordinary-owner.ts';
import { nameInLine, printableLine } from '../../shared/text/plain-sight.ts';
import { RENDER_LIMITS } from '../limits.ts';
import { findProgram } from '../terminal/programs.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Where a sandbox needs its programs. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin'];

/**
 * Whether the person said no, and so knows why each command asks. Asks once for each folder, before it is connected the
 * first time, and changes owners only after a yes. Without the sandbox's programs, or where another user cannot reach
 * the folder, a change of the owner would gain nothing.
 */
export async function offerOtherOwner(
  { workspaceDir, projectDir }: Pick<StatePlace, 'workspaceDir' | 'projectDir'>,
  terminal: Terminal,
  change = changeOwner,
): Promise<boolean> {
  if (!terminal.isInteractive || process.platform !== 'linux' || process.getuid?.() !== 0)
    return false;
  if ((await stat(workspaceDir)).uid !== 0 || !(await isReachable(workspaceDir))) return false;
  if (!['bwrap', 'setpriv'].every((name) => findProgram(name, SYSTEM_FOLDERS))) return false;
  if ((await readBridgeId(projectDir)) !== undefined) return false;
  terminal.write(offer(await ownerLine(workspaceDir), nameInLine(workspaceDir)));
  const answer = await terminal.ask('Do this now? y or n: ');
  if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return true;
  try {
    await change(await ownerCommand(workspaceDir));
  } catch (error) {
    const why = Object(error).stderr || (error as Error).message;
    terminal.write(
      `The owner was not changed: ${printableLine(why, RENDER_LIMITS.maxReasonChars)}\n`,
    );
  }
  return false;
}

async function changeOwner([program, ...args]: readonly [string, ...string[]]): Promise<void> {
  await promisify(execFile)(program, args);
}

function offer(chown: string, folder: string): string {
  return `You are root, and root owns this folder: a command would have every right
here, so each one asks you first. With another owner they run as that user, in
a sandbox, without questions:

  ${chown}

This changes the owner of every file in ${folder}.
Root still reads and writes them; git asks root once to set safe.directory.
`;
}

/** Whether every user can enter all folders above it. */
async function isReachable(folder: string): Promise<boolean> {
  const above = dirname(folder);
  const { mode } = await stat(above);
  return (mode & 0o001) !== 0 && (above === folder || (await isReachable(above)));
}
