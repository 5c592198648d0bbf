/** `accounts`: what the server's operator does to a whole account. */
import type { Context } from 'hono';
import {
  AccountExportLine,
  AccountName,
  AccountPatch,
  AccountStanding,
} from '../../shared/api/accounts.ts';
import type { RecordAction } from '../../shared/api/records.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import type { AppContext } from '../account/caller.ts';
import { inTurns } from '../account/heavy-work.ts';
import { parseBody, parseId } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { noteDamage } from '../health/damage.ts';
import { accountOf, directoryOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import { refused } from '../people/refused.ts';
import type { Standing, WantedState } from '../ports/account.ts';
import { reach } from '../reach.ts';
import { accountLines } from './account-export.ts';
import { fileOf } from './export.ts';
import { record } from './records.ts';

const PATH = '/api/v1/accounts/{account}';
const COMMON = {
  tag: 'Accounts',
  access: 'operator',
  params: {
    account: { description: 'The account, such as `ana` or `app:shop:42`.', zod: AccountName },
  },
} as const;
const STANDING = [jsonAnswer(200, 'The account.', AccountStanding)];

/** The endpoints of this file. */
export const ACCOUNTS: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'getAccount',
    method: 'get',
    path: PATH,
    summary: 'Get an account, and how far its deletion is',
    answers: STANDING,
    handle: async (c) => {
      const account = accountIn(c);
      const standing = await unlessDamaged(c, standingOf(c, account));
      return c.json(shown(account, standing ?? DAMAGED));
    },
  },
  {
    ...COMMON,
    id: 'updateAccount',
    method: 'patch',
    path: PATH,
    summary: 'Suspend an account, or lift that',
    description:
      'What it sends is refused with `ACCOUNT_SUSPENDED` at once. Its responses end, and its streams and bridges are cut, soon after. An account that was deleted begins anew when it becomes `active`.',
    body: { schema: AccountPatch, example: { state: 'suspended' } },
    answers: STANDING,
    errors: ['ACCOUNT_DELETED'],
    handle: async (c) => {
      const account = accountIn(c);
      const { state } = await parseBody(c, AccountPatch);
      const standing = await changeState(c, account, state);
      await note(c, state === 'active' ? 'account_resumed' : 'account_suspended', account);
      return c.json(shown(account, standing));
    },
  },
  {
    ...COMMON,
    id: 'deleteAccount',
    method: 'delete',
    path: PATH,
    summary: 'Delete an account with all that it has',
    description:
      'What it sends is refused with `ACCOUNT_DELETED` at once. Its conversations with their webhooks, its bridges’ connections, sessions, passkeys, invitations, usage and records are deleted in the background, also across a crash: `GET` shows how far that is. A second request changes nothing. An account whose own database is damaged is deleted too, where it can be opened at all: otherwise it answers `DAMAGED`, and `drawbridge check --state DIR --erase` does it on a stopped server.',
    answers: STANDING,
    handle: async (c) => {
      const account = accountIn(c);
      const standing = await unlessDamaged(c, changeState(c, account, 'deleted'));
      if (standing) return c.json(shown(account, standing));
      const wiped = reach(async () => {
        await accountOf(c.env, account).wipe();
        return true;
      });
      if (!(await unlessDamaged(c, wiped))) throw new DrawbridgeError('DAMAGED', UNWIPED);
      return c.json(shown(account, await standingOf(c, account)));
    },
  },
  {
    ...COMMON,
    id: 'exportAccount',
    method: 'get',
    path: `${PATH}/export`,
    summary: 'Download all that an account has',
    description:
      'One JSON value a line. The last line has the type `end`: without it, the file is not whole. Keys and secrets are left out.',
    answers: [
      {
        status: 200,
        description: 'The file.',
        content: [{ type: 'application/x-ndjson', schema: AccountExportLine }],
      },
    ],
    errors: ['ACCOUNT_DELETED'],
    handle: async (c) => {
      const account = accountIn(c);
      const standing = await standingOf(c, account);
      if (standing.state === 'deleted') throw refused('ACCOUNT_DELETED');
      await record(c, account, { action: 'account_exported', subject: account });
      await note(c, 'account_exported', account);
      return fileOf(inTurns(account, accountLines(c.env, { account, state: standing.state })), {
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="account.ndjson"',
      });
    },
  },
];

function accountIn(c: Context<AppContext>): string {
  const account = parseId(AccountName, c.req.param('account'), 'account');
  c.set('account', account);
  return account;
}

async function standingOf({ env }: Context<AppContext>, account: string): Promise<Standing> {
  return unwrap(await reach<Outcome<Standing>>(() => accountOf(env, account).standing()));
}

/** Null for an account whose file cannot be read. */
async function unlessDamaged<Result>(
  { env, var: { account, trace, operation } }: Context<AppContext>,
  work: Promise<Result>,
): Promise<Result | null> {
  return await work.catch((error: unknown) => {
    if (!(error instanceof DrawbridgeError && error.code === 'DAMAGED')) throw error;
    const object = String(accountOf(env, account).id);
    noteDamage({ trace, operation, account, object, error: error.cause });
    return null;
  });
}

async function changeState(
  { env }: Context<AppContext>,
  account: string,
  state: WantedState,
): Promise<Standing> {
  const change = () => accountOf(env, account).changeState(state);
  return unwrap(await reach<Outcome<Standing>>(change));
}

/** Records it for operators. A deletion is recorded when it is done. */
async function note(
  { env }: Context<AppContext>,
  action: RecordAction,
  subject: string,
): Promise<void> {
  await reach<void>(() => directoryOf(env).record({ action, subject }));
}

const UNWIPED =
  'The database of this account is so damaged that a running server cannot even empty it. Stop the server, and remove the account with `drawbridge check --state DIR --erase ACCOUNT`.';

const NOTHING = { conversations: 0, bridges: 0, sessions: 0 };

/** All that is known of an account whose file cannot be read. */
const DAMAGED = {
  state: 'damaged',
  sinceMs: null,
  has: NOTHING,
  deleted: { ...NOTHING, failed: 0 },
} as const;

function shown(
  account: string,
  { sinceMs, ...standing }: Standing | typeof DAMAGED,
): AccountStanding {
  const since = sinceMs === null ? null : new Date(sinceMs).toISOString();
  return { account, since, ...standing };
}
