/** `drawbridge invite`: a way into an account for one more device. */
import type { Command } from 'commander';
import { createClient } from '../../client/index.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import { parseAccount } from '../target/account-name.ts';
import { addLocationOptions, locationWordsOf } from '../target/location-options.ts';
import { actingFor, type OperatorOptions, serverOf } from '../target/operator.ts';
import { findTarget, type TargetOptions } from '../target/target.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { showQr } from '../terminal/qr.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';

interface InviteOptions extends OperatorOptions, Omit<TargetOptions, keyof OperatorOptions> {}

export function registerInvite(program: Command): void {
  const command = program
    .command('invite')
    .description('Print a one-use link that signs one more device in to an account')
    .argument(
      '[account]',
      'the account of a person; needs the server’s secret (default: your own)',
      parseAccount,
    )
    .option('--url <url>', 'another Drawbridge server (default: the one running for the workspace)')
    .option('--secret-file <file>', 'the file with its AUTH_SECRET; goes with an account and --url')
    .option('--token-file <file>', 'the file with the token for --url (default: your login there)');
  addLocationOptions(command).action(invite);
}

async function invite(account: string | undefined, options: InviteOptions): Promise<void> {
  const target =
    account === undefined
      ? await findTarget(options)
      : await actingFor(account, await serverOf(options));
  const { id, link, expires, account: into } = await createClient(target).createInvitation();
  const terminal = openTerminal(process, process.env);
  const until = shortLine(expires);
  terminal.write(
    `Until ${until}, anyone with this link can sign one device in to the account ${shortLine(into)}:\n`,
  );
  const printed = printableLine(link, CLI_LIMITS.maxLinkChars);
  terminal.writeOut(`${printed}\n`);
  showQr(terminal, printed);
  terminal.write(`On that machine: ${ownCommand('login', 'LINK')}\n`);
  const role = account === undefined ? [] : ['--operator'];
  const revoke = ownCommand('invitations', 'revoke', shortLine(id), ...role, ...wordsOf(options));
  terminal.write(`To revoke it: ${revoke}\n`);
}

/** The options, as words for a command that finds the same server. */
function wordsOf({ url, secretFile, tokenFile, ...location }: InviteOptions): string[] {
  const files = { url, 'secret-file': secretFile, 'token-file': tokenFile };
  const named = Object.entries(files).flatMap(([name, value]) =>
    value ? [`--${name}`, value] : [],
  );
  return [...named, ...locationWordsOf(location)];
}
