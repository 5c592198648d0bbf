/** `drawbridge keys`: the keys of apps whose users talk to the agent. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { AppKey, KeyList, NewKey, Right } from '../../shared/api/keys.ts';
import { BUDGET_LIMITS, KEY_LIMITS } from '../../shared/limits.ts';
import { findItem, listCommand, type Naming } from '../list/list-command.ts';
import { type ListFormat, printList } from '../list/print-list.ts';
import {
  addOperatorOptions,
  findOperated,
  type Operate,
  type OperatorOptions,
} from '../target/operator.ts';
import { askFirst } from '../terminal/confirm.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
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
  const group = listCommand(program, {
    ...KEYS,
    description: 'List, make or delete keys of apps whose users talk to the agent',
    listDescription: 'List the keys',
    addOptions: addOperatorOptions,
    open: findOperated,
    load: listAll,
    actions: [
      {
        name: 'renew',
        description: 'Give a key a new secret, which ends all its tokens',
        run: renewOne,
      },
      {
        name: 'delete',
        description: 'Delete a key, which ends all its tokens; conversations stay',
        done: 'Deleted',
        run: async (key, operate) => await operate(z.undefined(), pathOf(key), 'DELETE'),
      },
    ],
  });
  const create = group
    .command('create <name>')
    .description('Make a key and print its secret, which is never shown again');
  addOperatorOptions(addTerms(create)).action(createOne);
  const change = group
    .command('change <name>')
    .description('Change the terms of a key; options that you omit stay as they are');
  addOperatorOptions(addTerms(change)).action(changeOne);
}

const KEYS: Naming<AppKey> & ListFormat<AppKey> = {
  command: 'keys',
  noun: 'key',
  id: ({ id }) => id,
  columns: {
    NAME: ({ id }) => id,
    MADE: ({ created }) => new Date(created),
    CAN: ({ can }) => can.join(','),
    ORIGINS: ({ origins }) => origins.join(','),
    MODELS: ({ models }) => models.join(','),
    LIMITS: ({ id: _, created: __, can: ___, origins: ____, models: _____, ...limits }) =>
      Object.keys(limits).length > 0 ? JSON.stringify(limits) : '',
  },
  empty: 'No app has a key.',
};

async function listAll(operate: Operate): Promise<KeyList> {
  return await operate(KeyList, 'keys');
}

function pathOf({ id }: AppKey): string {
  return `keys/${encodeURIComponent(id)}`;
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
    .option(
      '--origins <origins>',
      'origins of web pages that may use tokens, separated by commas',
      listIn,
    )
    .option('--models <models>', 'the allowed models; the first one is the default', listIn)
    .option(
      '--bridges <ids>',
      'bridges that its users may use; the first one is the default',
      listIn,
    )
    .option('--requests-per-minute <number>', 'of one user', rate)
    .option('--runs-per-minute <number>', 'of one user', rate)
    .option('--tokens-per-day <number>', 'tokens of models, of one user', tokens)
    .option('--app-runs-per-minute <number>', 'of all users together', rate)
    .option('--app-tokens-per-day <number>', 'tokens of models, of all users together', tokens)
    .option('--issuer <url>', 'the identity provider of the app’s users: the iss of its tokens')
    .option('--jwks-url <url>', 'where its public keys are; goes with --issuer and --audience')
    .option('--audience <audience>', 'the app’s name there: the aud of its tokens')
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
  throw new InvalidArgumentError(`Give one or more of ${Right.options.join(', ')}.`);
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

async function createOne(id: string, options: TermOptions): Promise<void> {
  const operate = await findOperated(options);
  const terminal = openTerminal(process, process.env);
  await showSecret(await operate(NewKey, 'keys', 'POST', { id, ...termsOf(options) }), terminal);
}

async function changeOne(id: string, options: TermOptions): Promise<void> {
  const operate = await findOperated(options);
  const known = findItem((await listAll(operate)).items, id, KEYS);
  const { id: _, created: __, ...terms } = known;
  const wanted = { ...terms, ...termsOf(options) };
  const changed = await operate(AppKey, pathOf(known), 'PUT', wanted);
  await showTerms(changed, openTerminal(process, process.env));
}

async function renewOne(key: AppKey, operate: Operate, terminal: Terminal): Promise<void> {
  await askFirst(terminal, `End all tokens of ${key.id} now?`, {
    unasked: 'a new secret ends all tokens of the old one, so renew keys in a terminal.',
    otherwise: 'Nothing was changed.',
  });
  await showSecret(await operate(NewKey, `${pathOf(key)}/secret`, 'POST'), terminal);
}

/** The secret goes to stdout alone, so that it can be written into a file. */
async function showSecret({ secret, ...key }: NewKey, terminal: Terminal): Promise<void> {
  await showTerms(key, terminal);
  terminal.write('Keep this secret at the app’s backend. It is not shown again:\n');
  terminal.writeOut(`${secret}\n`);
}

async function showTerms(key: AppKey, terminal: Terminal): Promise<void> {
  await printList({ ...terminal, writeOut: terminal.write }, [key], KEYS, false);
}
