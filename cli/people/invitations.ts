/** `drawbridge invitations`: the ways into accounts that no device has used. */
import type { Command } from 'commander';
import * as z from 'zod';
import { createClient } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { InvitationId, InvitationList, type PendingInvitation } from '../../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { findOperated, type OperatorOptions } from '../target/operator.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

interface InvitationListOptions extends TargetOptions, OperatorOptions {
  readonly operator: boolean;
}

/** Adds the command, which lists if no subcommand is given. */
export function registerInvitations(program: Command): void {
  const group = program
    .command('invitations')
    .description('List or revoke invitations that no device has used')
    .addHelpText('after', '\nWithout a command, it lists them.');
  const list = group
    .command('list', { isDefault: true })
    .description('List the unused invitations into your account')
    .option('--json', 'print each invitation as a line of JSON', false);
  addOptions(list).action(listAll);
  const revoke = group.command('revoke <id>').description('Revoke an unused invitation');
  addOptions(revoke).action(revokeOne);
}

function addOptions(command: Command): Command {
  command
    .option('--operator', 'of all accounts; needs the server’s secret', false)
    .option(
      '--secret-file <file>',
      'the file with its AUTH_SECRET; goes with --operator and --url',
    );
  return addTargetOptions(command);
}

async function listAll({ json, ...options }: InvitationListOptions & { readonly json: boolean }) {
  const { items } = await readAll(options);
  const terminal = openTerminal(process, process.env, { machine: json });
  for (const item of items) terminal.writeOut(json ? jsonLine(item) : `${lineOf(item)}\n`);
  if (items.length === 0 && !json) terminal.write('No invitation waits for a device.\n');
}

async function readAll({ operator, ...options }: InvitationListOptions): Promise<InvitationList> {
  if (!operator) return await createClient(await findTarget(options)).listInvitations();
  const operate = await findOperated(options);
  return await operate(InvitationList, 'operator/invitations');
}

function lineOf({ id, account, by, created, expires }: PendingInvitation): string {
  const [made, until] = [created, expires].map((at) => at.slice(0, 'yyyy-mm-ddThh:mm'.length));
  const cells = [id, account, `made ${made}Z`, `until ${until}Z`, ...(by ? [`by ${by}`] : [])];
  return cells.map((cell) => printableLine(cell, SESSION_LIMITS.maxAccountChars)).join('  ');
}

async function revokeOne(
  id: string,
  { operator, ...options }: InvitationListOptions,
): Promise<void> {
  if (!InvitationId.safeParse(id).success) {
    throw new UsageError(
      'The id of an invitation begins with inv_: "invitations list" shows the ids.',
    );
  }
  const { items } = await readAll({ operator, ...options });
  if (!items.some((each) => each.id === id)) {
    throw new LocalError('refused', 'There is no such invitation: it was used, or has expired.');
  }
  if (operator) {
    await (await findOperated(options))(z.undefined(), `operator/invitations/${id}`, 'DELETE');
  } else await createClient(await findTarget(options)).revokeInvitation(id);
  openTerminal(process, process.env).write(`The invitation ${id} is revoked.\n`);
}
