/** `drawbridge sessions`: the devices that are signed in to an account, and those that ask to be. */
import type { Command } from 'commander';
import { type Client, createClient, fingerprintOf } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { LoginCode, type Session } from '../../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { listCommand } from '../list/list-command.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

export function registerSessions(program: Command): void {
  const group = listCommand(program, {
    command: 'sessions',
    noun: 'session',
    description: 'List or end the sessions of your account, or approve a new device',
    listDescription: 'List the devices that are signed in',
    addOptions: addTargetOptions,
    open: clientOf,
    load: async (client: Client) => await client.listSessions(),
    id: ({ id }) => id,
    name: ({ name }) => name,
    columns: {
      ID: ({ id }) => id,
      FINGERPRINT: fingerprint,
      'LAST USED': ({ lastUsed }) => new Date(lastUsed),
      KIND: ({ kind }) => kind,
      NAME: ({ name, current }) => `${shortName(name)}${current ? ' (this one)' : ''}`,
    },
    json: async (session) => ({ ...session, fingerprint: await fingerprint(session) }),
    empty: 'No device is signed in.',
    actions: [
      {
        name: 'end',
        description: 'End a session at once, with its bridges and its open streams',
        done: 'Ended',
        run: async ({ id }, client) => await client.endSession(id),
      },
    ],
  });
  const approve = group
    .command('approve <code>')
    .description('Approve or refuse the device that shows this code');
  addTargetOptions(approve).action(approveOne);
}

async function clientOf(options: TargetOptions): Promise<Client> {
  return createClient(await findTarget(options));
}

async function fingerprint({ key }: Session): Promise<string> {
  return await fingerprintOf({ publicKey: key });
}

async function approveOne(code: string, options: TargetOptions): Promise<void> {
  if (!LoginCode.safeParse(code).success) {
    throw new UsageError('A code has eight letters, such as BCDF-GHJK.');
  }
  const terminal = openTerminal(process, process.env);
  if (!terminal.isInteractive) {
    throw new UsageError('There is no terminal to ask at: a person must compare the fingerprint.');
  }
  const client = await clientOf(options);
  const { account } = await client.getMe();
  const { name, kind, key, address, created } = await client.getLogin(code);
  terminal.write(`Device       ${shortName(name)} (${shortName(kind)})\n`);
  if (address) terminal.write(`Address      ${shortName(address)}\n`);
  terminal.write(`Asked        ${shortName(created)}\n`);
  terminal.write(`Fingerprint  ${await fingerprintOf({ publicKey: key })}\n`);
  terminal.write(
    `It could then do everything that ${shortName(account)} may do, except approve calls.\n`,
  );
  const question = 'Does the device itself show this fingerprint? y lets it in, n refuses it: ';
  const answer = (await terminal.ask(question))?.trim().toLowerCase();
  if (answer === 'y' || answer === 'yes') {
    await client.decideLogin(code, { decision: 'approve', key });
    terminal.write(`${shortName(name)} is signed in now.\n`);
  } else if (answer === 'n' || answer === 'no') {
    await client.decideLogin(code, { decision: 'refuse', key });
    terminal.write(`${shortName(name)} was refused.\n`);
  } else throw new LocalError('failed', 'Nothing was decided.');
}

/** On one line: a device names itself. */
function shortName(name: string): string {
  return printableLine(name, SESSION_LIMITS.maxNameChars);
}
