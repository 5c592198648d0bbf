/** `drawbridge invitations`: the ways into accounts that no device has used. */
import type { Command } from 'commander';
import * as z from 'zod';
import { createClient } from '../../client/index.ts';
import { InvitationList } from '../../shared/api/sessions.ts';
import { listCommand } from '../list/list-command.ts';
import { findOperated, type OperatorOptions } from '../target/operator.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';

interface InvitationListOptions extends TargetOptions, OperatorOptions {
  readonly operator: boolean;
}

/** Where invitations are: in the person's account, or in all accounts of a server. */
interface Invitations {
  list(): Promise<InvitationList>;
  revoke(id: string): Promise<void>;
}

/** Adds the command, which lists if no subcommand is given. */
export function registerInvitations(program: Command): void {
  listCommand(program, {
    command: 'invitations',
    noun: 'unused invitation',
    description: 'List or revoke invitations that no device has used',
    listDescription: 'List the unused invitations into your account',
    addOptions,
    open: openInvitations,
    load: async (invitations: Invitations) => await invitations.list(),
    id: ({ id }) => id,
    columns: {
      ID: ({ id }) => id,
      ACCOUNT: ({ account }) => account,
      MADE: ({ created }) => new Date(created),
      'MADE BY': ({ by }) => by,
      EXPIRES: ({ expires }) => new Date(expires),
    },
    empty: 'There is no unused invitation.',
    actions: [
      {
        name: 'revoke',
        description: 'Revoke an unused invitation',
        done: 'Revoked',
        run: async ({ id }, invitations) => await invitations.revoke(id),
      },
    ],
  });
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

async function openInvitations({
  operator,
  ...options
}: InvitationListOptions): Promise<Invitations> {
  if (operator) {
    const operate = await findOperated(options);
    const path = 'operator/invitations';
    return {
      list: () => operate(InvitationList, path),
      revoke: async (id) => await operate(z.undefined(), `${path}/${id}`, 'DELETE'),
    };
  }
  const client = createClient(await findTarget(options));
  return { list: () => client.listInvitations(), revoke: (id) => client.revokeInvitation(id) };
}
