/** `records`, `operator/records`: who did what, in an account and at the server. */
import type { Context } from 'hono';
import { type ActRecord, ActRecordList, RecordsQuery } from '../../shared/api/records.ts';
import { RECORD_LIMITS } from '../../shared/limits.ts';
import type { AppContext } from '../account/caller.ts';
import { badCursor } from '../account/cursor.ts';
import { parse } from '../desk/parse.ts';
import { describePage, describeQuery, type Endpoint, jsonAnswer } from '../endpoint.ts';
import { accountOf, directoryOf } from '../objects.ts';
import { reach } from '../reach.ts';
import type { Act, RecordsPage, StoredRecord } from '../storage/records.ts';

const COMMON = {
  method: 'get',
  query: describeQuery({
    schema: RecordsQuery,
    described: describePage('records', RECORD_LIMITS.page, RECORD_LIMITS.maxPage),
  }),
  answers: [jsonAnswer(200, 'A page of the list, the newest first.', ActRecordList)],
  errors: ['INVALID_CURSOR'],
} as const;

/** The endpoints of this file. */
export const RECORDS: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'listRecords',
    path: '/api/v1/records',
    tag: 'People',
    access: 'user',
    needs: 'person',
    summary: 'List who did what in the account',
    description:
      'The newest 10,000 records are kept. None has text of a conversation, or a secret.',
    handle: async (c) => {
      const read = (page: RecordsPage) => accountOf(c.env, c.var.caller.sub).records(page);
      return c.json(await listOf(parse(RecordsQuery, c.req.query()), read));
    },
  },
  {
    ...COMMON,
    id: 'listServerRecords',
    path: '/api/v1/operator/records',
    tag: 'Accounts',
    access: 'operator',
    summary: 'List what operators did to keys and accounts',
    handle: async (c) => {
      const read = (page: RecordsPage) => directoryOf(c.env).records(page);
      return c.json(await listOf(parse(RecordsQuery, c.req.query()), read));
    },
  },
];

async function listOf(
  { limit, cursor }: RecordsQuery,
  read: (page: RecordsPage) => Promise<StoredRecord[]>,
): Promise<ActRecordList> {
  const before = cursor === undefined ? null : placeOf(cursor);
  const found = await reach<StoredRecord[]>(() => read({ limit: limit + 1, before }));
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items: items.map(shownRecord), nextCursor: last ? String(last.number) : null };
}

/** @throws {DrawbridgeError} INVALID_CURSOR */
function placeOf(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw badCursor();
}

/** A record as readers get it. */
export function shownRecord({ atMs, session, action, subject }: StoredRecord): ActRecord {
  return { at: new Date(atMs).toISOString(), session: session ?? null, action, subject };
}

/** Records an act of the caller's session in an account. A stranger has no session. */
export async function record(c: Context<AppContext>, account: string, act: Act): Promise<void> {
  const session: string | undefined = c.var.caller?.sid;
  await reach<void>(() => accountOf(c.env, account).record({ ...act, session }));
}
