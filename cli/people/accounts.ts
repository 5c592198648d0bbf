/** `drawbridge accounts`: what the operator of a server does to whole accounts. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LocalError } from '../../machine/local-error.ts';
import { PRIVATE_FILE } from '../../machine/private-files.ts';
import { AccountName, AccountStanding } from '../../shared/api/accounts.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { escapeControls, printableLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import {
  addOperatorOptions,
  findOperated,
  findOperatedServer,
  type Operate,
  type OperatorOptions,
} from '../target/operator.ts';
import { askFirst } from '../terminal/confirm.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';

export function registerAccounts(program: Command): void {
  const group = program
    .command('accounts')
    .description('Suspend, export or delete an account; needs the server’s secret');
  const add = (name: string, description: string) => {
    const command = group.command(name).description(description);
    return addOperatorOptions(
      command.argument('<account>', 'such as ana, or app:shop:42 of an app’s user', parseName),
    );
  };
  add('show', 'Show the state of an account, its contents, and the progress of its deletion')
    .option('--json', 'print it as a line of JSON', false)
    .action(showOne);
  add(
    'suspend',
    'Refuse an account’s requests, cancel its answers, disconnect its streams and bridges',
  ).action((account, options) => change(account, 'suspended', options));
  add('resume', 'Reactivate a suspended account, or allow a deleted one again, empty').action(
    (account, options) => change(account, 'active', options),
  );
  add('export', 'Export everything in an account, one JSON value per line')
    .option('-o, --output <file>', 'write to this file, and replace it if it exists')
    .action(exportOne);
  add('delete', 'Delete an account and everything in it, for good')
    .addOption(new Option('--yes', 'do not ask').default(false))
    .action(deleteOne);
}

/** Any name that a token can have. A URL cannot name `.` and `..`. */
function parseName(text: string): string {
  const { data } = AccountName.safeParse(text);
  if (data?.isWellFormed() && !/^\.\.?$/.test(data)) return data;
  throw new InvalidArgumentError(
    `An account has 1 to ${SESSION_LIMITS.maxAccountChars} characters, such as ana@example.com.`,
  );
}

function pathOf(account: string): string {
  return `accounts/${encodeURIComponent(account)}`;
}

async function showOne(
  account: string,
  { json, ...options }: OperatorOptions & { readonly json: boolean },
): Promise<void> {
  const operate = await findOperated(options);
  const standing = await operate(AccountStanding, pathOf(account));
  const terminal = openTerminal(process, process.env, { machine: json });
  terminal.writeOut(json ? jsonLine(standing) : `${lineOf(standing)}\n`);
}

async function change(
  account: string,
  state: 'active' | 'suspended',
  options: OperatorOptions,
): Promise<void> {
  const operate = await findOperated(options);
  const standing = await operate(AccountStanding, pathOf(account), 'PATCH', { state });
  openTerminal(process, process.env).write(`${lineOf(standing)}\n`);
}

function lineOf({ account, state, since, has, deleted }: AccountStanding): string {
  if (state === 'damaged') return `${shown(account)}  damaged: ${DAMAGED}`;
  const isGone = state === 'deleted' || state === 'deleting';
  const cells = [
    shown(account),
    since === null ? state : `${state} since ${since.slice(0, 'yyyy-mm-ddThh:mm'.length)}Z`,
    ...(state === 'deleted' ? [] : [`has ${listOf(has)}`]),
    ...(isGone ? [`deleted ${listOf(deleted)}${failedOf(deleted)}`] : []),
  ];
  return cells.join('  ');
}

/** What is to be done about an account whose own database cannot be read. */
const DAMAGED =
  'its database cannot be read. With the server stopped, `drawbridge restore BACKUP --state DIR --only PATH` puts it back; `drawbridge accounts delete` deletes the account.';

function listOf({ conversations, bridges, sessions }: AccountStanding['has']): string {
  return `${conversations} conversations, ${bridges} bridges, ${sessions} sessions`;
}

function failedOf({ failed }: AccountStanding['deleted']): string {
  return failed === 0 ? '' : `; ${failed} could not be opened: the server’s log names them`;
}

function shown(account: string): string {
  return printableLine(account, SESSION_LIMITS.maxAccountChars);
}

async function exportOne(
  account: string,
  { output, ...options }: OperatorOptions & { readonly output?: string },
): Promise<void> {
  const { request } = await findOperatedServer(options);
  const { body } = await request(`${pathOf(account)}/export`);
  const isFile = output !== undefined && output !== '-';
  const sink = isFile ? createWriteStream(output, { mode: PRIVATE_FILE }) : process.stdout;
  const isScreen = !isFile && process.stdout.isTTY;
  let end = '';
  const texts = async function* (source: AsyncIterable<Uint8Array>) {
    const decoder = new TextDecoder();
    for await (const bytes of source) {
      const text = decoder.decode(bytes, { stream: true });
      end = (end + text).slice(-CLI_LIMITS.exportEndChars);
      yield isScreen ? escapeControls(text) : text;
    }
  };
  try {
    if (body) await pipeline(body, texts, sink, { end: isFile });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError('failed', `The export is incomplete: ${why}`, { cause });
  }
  if (/\{"type":"end",[^\n]*\}\n$/.test(end)) return;
  throw new LocalError('failed', 'The export is incomplete: its last line is missing.');
}

async function deleteOne(
  account: string,
  { yes, ...options }: OperatorOptions & { readonly yes: boolean },
): Promise<void> {
  const operate = await findOperated(options);
  const terminal = openTerminal(process, process.env);
  const { state, has } = await operate(AccountStanding, pathOf(account));
  if (!yes && state !== 'deleting' && state !== 'deleted') {
    const all = state === 'damaged' ? 'all that it has, which is damaged' : listOf(has);
    const question = `Delete the account ${shown(account)} with ${all}, for good?`;
    await askFirst(terminal, question, {
      unasked: 'add --yes to delete without a question.',
      otherwise: 'Nothing was deleted.',
    });
  }
  await operate(AccountStanding, pathOf(account), 'DELETE');
  const standing = await untilDeleted(operate, account, (line) => terminal.write(line));
  if (standing.state === 'damaged') throw new LocalError('failed', lineOf(standing));
  const { deleted } = standing;
  terminal.write(`Deleted ${shown(account)}: ${listOf(deleted)}${failedOf(deleted)}.\n`);
}

/** Looks until nothing is left. Ctrl-C ends the look; the server goes on. */
async function untilDeleted(
  operate: Operate,
  account: string,
  write: (line: string) => void,
): Promise<AccountStanding> {
  for (let last = ''; ; ) {
    const standing = await operate(AccountStanding, pathOf(account));
    if (standing.state !== 'deleting') return standing;
    const line = `Deleting: ${listOf(standing.has)} left.\n`;
    if (line !== last) write(line);
    last = line;
    await sleep(CLI_LIMITS.deletionPollMs);
  }
}
