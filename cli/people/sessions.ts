/** `drawbridge sessions`: the devices that are signed in to an account, and those that ask to be. */
import type { Command } from 'commander';
import { createClient, fingerprintOf } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { LoginCode } from '../../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

export function registerSessions(program: Command): void {
  const group = program
    .command('sessions')
    .description('List or end the sessions of your account, or let a device in')
    .addHelpText('after', '\nWithout a command, it lists them.');
  const list = group
    .command('list', { isDefault: true })
    .description('List the devices that are signed in')
    .option('--json', 'print each session as a line of JSON', false);
  addTargetOptions(list).action(listAll);
  const end = group
    .command('end <id>')
    .description(
      'End a session: its device is refused at once, and its bridges and readers are cut',
    );
  addTargetOptions(end).action(endOne);
  const approve = group
    .command('approve <code>')
    .description('Let a device in that shows this code, or refuse it');
  addTargetOptions(approve).action(approveOne);
}

async function clientOf(options: TargetOptions) {
  return createClient(await findTarget(options));
}

async function listAll({ json, ...options }: TargetOptions & { readonly json: boolean }) {
  const { items } = await (await clientOf(options)).listSessions();
  const terminal = openTerminal(process, process.env, { machine: json });
  for (const session of items) {
    if (json) {
      terminal.writeOut(jsonLine(session));
      continue;
    }
    const { id, name, kind, key, lastUsed, current } = session;
    const cells = [
      id,
      await fingerprintOf({ publicKey: key }),
      `last used ${lastUsed.slice(0, 'yyyy-mm-ddThh:mm'.length)}Z`,
      kind,
      name,
    ];
    const line = cells.map((cell) => printableLine(cell, SESSION_LIMITS.maxNameChars)).join('  ');
    terminal.writeOut(`${line}${current ? ' (this one)' : ''}\n`);
  }
  if (items.length === 0 && !json) terminal.write('No device is signed in.\n');
}

async function endOne(id: string, options: TargetOptions): Promise<void> {
  const client = await clientOf(options);
  const { items } = await client.listSessions();
  const session = items.find((each) => each.id === id);
  if (!session)
    throw new LocalError('refused', 'There is no such session: "sessions list" shows the ids.');
  await client.endSession(id);
  openTerminal(process, process.env).write(`${shortName(session.name)} is signed out.\n`);
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
    `It could then do everything that ${shortName(account)} may do, but approve nothing.\n`,
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
