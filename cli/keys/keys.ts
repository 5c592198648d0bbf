/** `drawbridge keys`: the keys of apps whose users talk to the agent. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { AppKey, KeyList, NewKey, Right } from '../../shared/api/keys.ts';
import { BUDGET_LIMITS, KEY_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { addOperatorOptions, findOperated, type OperatorOptions } from '../target/operator.ts';
import { askFirst } from '../terminal/confirm.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

/** The options as commander parses them. Absent: as the key has it, for a new key without a limit. */
interface TermOptions extends OperatorOptions {
  readonly can?: Right[];
  readonly origins?: string[];
  readonly models?: string[];
  readonly bridges?: string[];
  readonly requestsPerMinute?: number;
  readonly runsPerMinute?: number;
  readonly tokensPerDay?: number;
  readonly appRunsPerMinute?: number;
  readonly appTokensPerDay?: number;
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly issuer?: string;
  readonly jwksUrl?: string;
  readonly audience?: string;
  readonly claim?: string;
}

/** Adds the command, which lists if no subcommand is given. */
export function registerKeys(program: Command): void {
  const group = program
    .command('keys')
    .description('List, make or delete keys of apps whose users talk to the agent')
    .addHelpText('after', '\nWithout a command, it lists them.');
  const list = group
    .command('list', { isDefault: true })
    .description('List the keys')
    .option('--json', 'print each key as a line of JSON', false);
  addOperatorOptions(list).action(listAll);
  const create = group
    .command('create <name>')
    .description('Make a key and print its secret, which is never shown again');
  addOperatorOptions(addTerms(create)).action(createOne);
  const change = group
    .command('change <name>')
    .description('Change what a key allows; what is not given stays');
  addOperatorOptions(addTerms(change)).action(changeOne);
  const renew = group
    .command('renew <name>')
    .description('Give a key another secret, which ends all tokens of the old one');
  addOperatorOptions(renew).action(renewOne);
  const remove = group
    .command('delete <name>')
    .description('Delete a key, which ends all its tokens; conversations stay');
  addOperatorOptions(remove).action(deleteOne);
}

function addTerms(command: Command): Command {
  const rate = wholeNumber(1, KEY_LIMITS.maxRate);
  const tokens = wholeNumber(1, Number.MAX_SAFE_INTEGER);
  return command
    .addOption(
      new Option(
        '--can <rights>',
        `what tokens may do (default: chat,read): ${Right.options}`,
      ).argParser(rightsIn),
    )
    .option('--origins <origins>', 'the web pages that may use tokens, with commas between', listIn)
    .option('--models <models>', 'the only models; the first one answers by default', listIn)
    .option('--bridges <ids>', 'machines for its users; the first one by default', listIn)
    .option('--requests-per-minute <number>', 'of one user', rate)
    .option('--runs-per-minute <number>', 'of one user', rate)
    .option('--tokens-per-day <number>', 'of models, of one user', tokens)
    .option('--app-runs-per-minute <number>', 'of all users together', rate)
    .option('--app-tokens-per-day <number>', 'of models, of all users together', tokens)
    .option('--issuer <url>', 'the identity provider of the app’s users, as its tokens name it')
    .option('--jwks-url <url>', 'where its public keys are; goes with --issuer and --audience')
    .option('--audience <audience>', 'how its tokens name the app')
    .option('--claim <name>', 'the claim that names the user (default: sub)')
    .option('--max-turns <number>', 'of one response', wholeNumber(1, BUDGET_LIMITS.maxTurns))
    .option('--max-tokens <number>', 'of one response', tokens);
}

function listIn(text: string): string[] {
  return text.split(',').filter((part) => part !== '');
}

function rightsIn(text: string): Right[] {
  const rights = Right.array().min(1).safeParse(listIn(text));
  if (rights.success) return rights.data;
  throw new InvalidArgumentError(`It must be some of ${Right.options.join(', ')}.`);
}

/** The fields of a key's terms that the options name. */
function termsOf(options: TermOptions): Record<string, unknown> {
  const { url: _, secretFile: __, workspace: ___, state: ____, ...given } = options;
  const { maxTurns, maxTokens, issuer, jwksUrl, audience, claim, ...terms } = given;
  const budget = { maxTurns, maxTokens };
  const provider = { issuer, jwksUrl, audience, claim };
  return { ...terms, ...ifAny({ budget }), ...ifAny({ provider }) };
}

/** The groups that have a value. */
function ifAny(groups: Readonly<Record<string, object>>): Record<string, object> {
  const isGiven = ([, group]: [string, object]) =>
    Object.values(group).some((value) => value !== undefined);
  return Object.fromEntries(Object.entries(groups).filter(isGiven));
}

async function listAll({ json, ...options }: OperatorOptions & { readonly json: boolean }) {
  const operate = await findOperated(options);
  const { items } = await operate(KeyList, 'keys');
  const terminal = openTerminal(process, process.env, { machine: json });
  for (const key of items) terminal.writeOut(json ? jsonLine(key) : `${lineOf(key)}\n`);
  if (items.length === 0 && !json) terminal.write('No app has a key.\n');
}

function lineOf({ id, created, can, origins, models, ...limits }: AppKey): string {
  const cells = [
    id,
    created.slice(0, 'yyyy-mm-dd'.length),
    `can ${can.join(',')}`,
    ...(origins.length > 0 ? [`origins ${origins.join(',')}`] : []),
    ...(models.length > 0 ? [`models ${models.join(',')}`] : []),
    ...(Object.keys(limits).length > 0 ? [JSON.stringify(limits)] : []),
  ];
  return printableLine(cells.join('  '), KEY_LIMITS.maxOriginChars * KEY_LIMITS.maxOrigins);
}

async function createOne(id: string, options: TermOptions): Promise<void> {
  const operate = await findOperated(options);
  showSecret(await operate(NewKey, 'keys', 'POST', { id, ...termsOf(options) }));
}

async function changeOne(id: string, options: TermOptions): Promise<void> {
  const operate = await findOperated(options);
  const { items } = await operate(KeyList, 'keys');
  const known = items.find((key) => key.id === id);
  if (!known) throw new UsageError(`There is no key named ${id}.`);
  const { id: _, created: __, ...terms } = known;
  const path = `keys/${encodeURIComponent(id)}`;
  const changed = await operate(AppKey, path, 'PUT', { ...terms, ...termsOf(options) });
  openTerminal(process, process.env).write(`${lineOf(changed)}\n`);
}

async function renewOne(id: string, options: OperatorOptions): Promise<void> {
  const operate = await findOperated(options);
  await askFirst(openTerminal(process, process.env), `End all tokens of ${id} now?`, {
    unasked: 'a new secret ends all tokens of the old one, so renew keys in a terminal.',
    otherwise: 'Nothing was changed.',
  });
  showSecret(await operate(NewKey, `keys/${encodeURIComponent(id)}/secret`, 'POST'));
}

async function deleteOne(id: string, options: OperatorOptions): Promise<void> {
  const operate = await findOperated(options);
  await operate(z.undefined(), `keys/${encodeURIComponent(id)}`, 'DELETE');
  openTerminal(process, process.env).write(`There is no key named ${printableLine(id, 40)} now.\n`);
}

/** The secret goes to stdout alone, so that it can be written into a file. */
function showSecret(key: NewKey): void {
  const { secret, ...shown } = key;
  const terminal = openTerminal(process, process.env);
  terminal.write(`${lineOf(shown)}\n`);
  terminal.write('Keep this secret at the app’s backend. It is not shown again:\n');
  terminal.writeOut(`${secret}\n`);
}
