/** `drawbridge allow` and `disallow`: the accounts that may use the bridge of a folder beside its owner's. */
import { type Command, Option } from 'commander';
import type { AuditRecord } from '../../bridge/grantees/audit.ts';
import { locateState } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import type { AccountGrant } from '../../shared/wire/grants.ts';
import { GrantedName } from '../../shared/wire/grants.ts';
import { Preset } from '../../shared/wire/preset.ts';
import { keyOfAccount } from '../../shared/wire/tokens.ts';
import { findItem, type Naming } from '../list/list-command.ts';
import { type ListFormat, printList } from '../list/print-list.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

interface AllowOptions extends LocationOptions {
  readonly preset?: Preset;
  readonly worktrees: boolean;
  readonly json: boolean;
}

/** Adds both commands. `allow` lists if no account is given. */
export function registerAllow(program: Command): void {
  const allow = program
    .command('allow [account]')
    .description('Let another account use this folder, or list those that may')
    .addOption(
      new Option('--preset <preset>', 'the most that it may do (default: read-only)').choices(
        Preset.options,
      ),
    )
    .option('--worktrees', 'let it work in worktrees only, never in the folder itself', false)
    .option('--json', 'print each account as a line of JSON', false)
    .addHelpText(
      'after',
      '\nAn account is a name, app:KEY for all users of an app, or app:KEY:USER for one of them.',
    );
  addLocationOptions(allow).action(async (name: string | undefined, options: AllowOptions) => {
    await (name === undefined ? listAll(options) : allowOne(name, options));
  });
  const disallow = program
    .command('disallow <account>')
    .description('Revoke what "allow" gave an account, and cancel its running work');
  addLocationOptions(disallow).action(disallowOne);
}

async function listAll(options: AllowOptions): Promise<void> {
  if (options.preset || options.worktrees) throw new UsageError('Name an account to allow.');
  const { readGrants } = await import('../../bridge/grantees/grant-file.ts');
  const { readAudit } = await import('../../bridge/grantees/audit.ts');
  const stateDir = await stateOf(options);
  const records = await readAudit(stateDir);
  const grants = (await readGrants(stateDir)).map((grant) => {
    const isCall = (record: AuditRecord) => record.type === 'call' && isOf(grant, record.account);
    return { ...grant, used: records.findLast(isCall)?.time };
  });
  await printList(openTerminal(process, process.env), grants, GRANTS, options.json);
}

const GRANTS: ListFormat<AccountGrant & { readonly used?: string | undefined }> = {
  columns: {
    ACCOUNT: ({ name }) => name,
    PRESET: ({ preset }) => preset,
    'WORKS IN': ({ worktrees }) => (worktrees ? 'worktrees' : 'the folder'),
    SINCE: ({ since }) => new Date(since),
    'LAST CALL': ({ used }) => (used === undefined ? 'never' : new Date(used)),
  },
  empty: 'No other account may use this folder.',
};

function isOf({ name }: AccountGrant, account: string): boolean {
  return name === account || name === `app:${keyOfAccount(account)}`;
}

async function allowOne(
  written: string,
  { preset = 'read-only', worktrees, ...options }: AllowOptions,
): Promise<void> {
  const { changeGrants } = await import('../../bridge/grantees/grant-file.ts');
  const parsed = GrantedName.safeParse(written);
  if (!parsed.success) {
    throw new UsageError(`${shortLine(written)}: it ${parsed.error.issues[0]?.message}.`);
  }
  const { data: name } = parsed;
  await openState(await findLocation(options, 'kept'));
  const since = new Date().toISOString();
  const grant = { name, preset, ...(worktrees && { worktrees: true as const }), since };
  await changeGrants(await stateOf(options), (grants) => [
    ...grants.filter((known) => known.name !== name),
    grant,
  ]);
  const terminal = openTerminal(process, process.env);
  await printList(terminal, [grant], GRANTS, false);
  terminal.write(`${MEANS[preset]} Calls that your rules ask about are refused.\n`);
}

const MEANS: Readonly<Record<Preset, string>> = {
  'read-only':
    'It may read this folder. `--preset workspace` lets it change files and run commands.',
  ask: 'It may read this folder.',
  workspace: 'It may change files and run commands in the sandbox, as far as your rules allow it.',
  trusted: 'It may do all that your rules allow without a question.',
};

const NAMING: Naming<AccountGrant> = {
  command: 'allow',
  noun: 'allowed account',
  id: ({ name }) => name,
};

async function disallowOne(written: string, options: LocationOptions): Promise<void> {
  const { changeGrants } = await import('../../bridge/grantees/grant-file.ts');
  await changeGrants(await stateOf(options), (grants) => {
    const grant = findItem(grants, written, NAMING);
    return grants.filter((each) => each !== grant);
  });
  openTerminal(process, process.env).write(
    `${shortLine(written)} may no longer use this folder.\n`,
  );
}

async function stateOf(options: LocationOptions): Promise<string> {
  return (await locateState(await findLocation(options, 'kept'))).projectDir;
}
