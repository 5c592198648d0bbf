/** `drawbridge enrol`: a one-use secret with which another device may approve. */
import type { Command } from 'commander';
import { formatEnrolment } from '../../client/index.ts';
import { readBridgeId } from '../../local/state/state.ts';
import { openEnrolment } from '../../machine/enrolments.ts';
import { LocalError } from '../../machine/local-error.ts';
import { addLocationOptions, findKept, type LocationOptions } from '../target/location-options.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { showQr } from '../terminal/qr.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { mayApprove } from './devices.ts';

export function registerEnrol(program: Command): void {
  const command = program
    .command('enrol')
    .description('Print a one-use secret that enrols one more device');
  addLocationOptions(command).action(enrol);
}

async function enrol(options: LocationOptions): Promise<void> {
  const { serverDir, projectDir } = await findKept(options, 'kept');
  const bridgeId = projectDir && (await readBridgeId(projectDir));
  if (!bridgeId) {
    const start = ownCommand('start');
    throw new LocalError('refused', `This folder was never connected: \`${start}\` connects it.`);
  }
  const { secret, expires } = await openEnrolment(serverDir, 'enrol', new Date());
  const terminal = openTerminal(process, process.env);
  const text = formatEnrolment({ bridgeId, secret });
  terminal.write(`Enrols one device, once, until ${expires}. ${mayApprove(serverDir)}\n`);
  terminal.write('Give it only to a program of yours that no server can change.\n');
  terminal.writeOut(`${text}\n`);
  showQr(terminal, text);
}
