/** `accounts`: what the server's operator does to a whole account. */
import type { Context } from 'hono';
import {
  AccountExportLine,
  AccountName,
  AccountPatch,
  AccountStanding,
} from '../../shared/api/accounts.ts';
import type { RecordAction } from '../../shared/api/records.ts';
import type { AppContext } from '../account/caller.ts';
import { parseBody, parseId } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { accountOf, directoryOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import { refused } from '../people/refused.ts';
import type { Standing, WantedState } from '../ports/account.ts';
import { reach } from '../reach.ts';
import { accountLines } from './account-export.ts';
import { fileOf } from './export.ts';

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
      return c.json(shown(account, await standingOf(c, account)));
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
      'What it sends is refused with `ACCOUNT_DELETED` at once. Its conversations with their webhooks, its bridges’ connections, sessions, passkeys, invitations, usage and records are deleted in the background, also across a crash: `GET` shows how far that is. A second request changes nothing.',
    answers: STANDING,
    handle: async (c) => {
      const account = accountIn(c);
      return c.json(shown(account, await changeState(c, account, 'deleted')));
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
      const act = { action: 'account_exported', subject: account } as const;
      await reach<void>(() => accountOf(c.env, account).record(act));
      await note(c, act.action, account);
      return fileOf(accountLines(c.env, shown(account, standing)), {
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="account.ndjson"',
      });
    },
  },
];

function accountIn(c: Context<AppContext>): string {
  return parseId(AccountName, c.req.param('account'), 'account');
}

async function standingOf({ env }: Context<AppContext>, account: string): Promise<Standing> {
  return unwrap(await reach<Outcome<Standing>>(() => accountOf(env, account).standing()));
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

function shown(account: string, { sinceMs, ...standing }: Standing): AccountStanding {
  const since = sinceMs === null ? null : new Date(sinceMs).toISOString();
  return { account, since, ...standing };
}
