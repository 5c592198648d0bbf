/** Forks a conversation: the old conversation serves pages, and the new one stores them. */
import { DrawbridgeError } from '../../../shared/errors.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import type { Env } from '../../env.ts';
import { accountOf, conversationOf, tunnelOf } from '../../objects.ts';
import { unwrap } from '../../outcome.ts';
import { refused } from '../../people/refused.ts';
import type { Refused } from '../../ports/account.ts';
import type {
  Caller,
  ForkPage,
  ForkPoint,
  ForkSource,
  PageStart,
  TableName,
} from '../../ports/conversation.ts';
import { reach } from '../../reach.ts';
import { hasSchema } from '../../storage/migrations.ts';
import { Pace } from '../../storage/pace.ts';
import { insertRow, type StoredRow } from '../../storage/statements.ts';
import type { RunLog } from '../log/run-log.ts';
import type { ConversationRow } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { ConversationStore } from '../store/statements.ts';
import { readEvents, readRequest, readStored, STEER } from '../store/stored.ts';
import { type Copy, copyTapeRow } from './copy-events.ts';
import { type Extent, FIRST_PAGE } from './pages.ts';

/**
 * Makes `to` a copy of a conversation. Leaves an existing `to` unchanged, so the same fork can be requested again. The
 * copy exists as a whole or not at all. Throws NOT_FOUND, and CONVERSATION_BUSY for a response that has not ended.
 */
export async function forkConversation(env: Env, to: Caller, source: ForkSource): Promise<void> {
  unwrap(await conversationOf(env, to).fork(to, source));
}

/**
 * Tells the account of a conversation before anything of it is stored, so that the account's deletion finds what a crash
 * leaves. @throws {DrawbridgeError} for an account that takes nothing, and UNAVAILABLE.
 */
export async function noteMaking(
  env: Pick<Env, 'ACCOUNTS'>,
  { account, conversationId }: Pick<Caller, 'account' | 'conversationId'>,
): Promise<void> {
  const why = await reach<Refused | null>(() => accountOf(env, account).making(conversationId));
  if (why) throw refused(why);
}

/** The part that a copy takes. Rows of ended runs never change, but for what {@link readSteer} leaves out. */
export function extentOf(
  log: RunLog,
  store: RunStore,
  { ordinal, through, restores }: ForkPoint,
): Extent {
  const last = through ? ordinal : ordinal - 1;
  if (log.current && (restores || log.current.ordinal <= last)) {
    throw new DrawbridgeError(
      'CONVERSATION_BUSY',
      'The response has not ended: wait for it, or cancel it',
    );
  }
  return { ordinal: last, end: store.readEnd(last) };
}

/** The pages of the old conversation, requested one by one. */
export async function* pagesOf(
  env: Env,
  account: string,
  { from, title, ...point }: ForkSource,
): AsyncGenerator<ForkPage> {
  const caller = { account, conversationId: from };
  for (let start: PageStart | null = FIRST_PAGE; start; ) {
    const page: ForkPage = unwrap<ForkPage>(
      await conversationOf(env, caller).forkPage(caller, point, start),
    );
    if (point.restores) await requireConnected(env, account, page.bridge);
    yield { ...page, title: title ?? page.title };
    start = page.next;
  }
}

/** Refuses before the copy exists, so that a person who wanted the files too does not get the talk alone. */
async function requireConnected(env: Env, account: string, bridge: string | null): Promise<void> {
  const status = bridge === null ? null : await tunnelOf(env, bridge).status(account);
  if (status?.connected) return;
  throw new DrawbridgeError(
    'UNAVAILABLE',
    'The bridge of the conversation is offline, so the files cannot be restored: connect it, or fork without `files`',
  );
}

/**
 * Writes the pages of `from` into an object that has no conversation, and returns the conversation's row. Nothing is reachable
 * until the caller stores that row. Sets an alarm, at which the caller deletes an abandoned copy.
 */
export async function takePages(
  storage: DurableObjectStorage,
  store: ConversationStore,
  to: Caller,
  from: string,
  pages: AsyncIterable<ForkPage>,
  env: Pick<Env, 'ACCOUNTS'>,
): Promise<ConversationRow> {
  let first: ForkPage | undefined;
  const pace = new Pace();
  for await (const page of pages) {
    if (!first) {
      await noteMaking(env, to);
      await clearFor(storage, store);
    }
    first ??= page;
    const { title, ordinal } = first;
    const copy = { conversationId: to.conversationId, title, ordinal };
    for (const { table, row } of page.rows) {
      const events = table === 'tape' ? readEvents(row['body']) : [];
      // Damaged rows are copied as they are.
      if (table !== 'tape' || events.every(({ type }) => type === 'lost')) {
        insertRow(storage.sql, table, asCopied(table, row, copy, from));
        continue;
      }
      for (const copied of copyTapeRow({ position: Number(row['position']), events }, copy)) {
        store.appendTape(copied.position, copied.events);
      }
    }
    await pace.rest();
  }
  if (!first) throw new Error('a conversation has at least one page');
  return {
    id: to.conversationId,
    owner: to.account,
    bridge: first.bridge,
    created: new Date().toISOString(),
    title: first.title,
    archived: false,
    ephemeral: false,
    deleteAfterHours: first.deleteAfterHours,
    titleAttempts: null,
  };
}

/** Deletes what an earlier instance copied without finishing. A new object has nothing, and deleting takes long. */
async function clearFor(storage: DurableObjectStorage, store: ConversationStore): Promise<void> {
  if (hasSchema(storage.sql)) await storage.deleteAll();
  store.prepare();
  await storage.setAlarm(Date.now() + CONVERSATION_LIMITS.maxCopyMs);
}

/** The row without what belongs to the old conversation, such as its Idempotency-Key. */
function asCopied(table: TableName, row: StoredRow, copy: Copy, from: string): StoredRow {
  if (table !== 'runs' && table !== 'steers') return row;
  const column = table === 'runs' ? 'request' : 'body';
  const stored = table === 'runs' ? readRun(row[column], from) : readSteer(row, copy);
  if (!stored) return row;
  const { idempotency: _, ...said } = stored;
  return { ...row, [column]: JSON.stringify(said) };
}

/** A run that worked in its conversation's worktree worked in that of `from`. */
function readRun(request: unknown, from: string) {
  const stored = readRequest(request);
  return stored?.worktree === true ? { ...stored, worktree: from } : stored;
}

/** Leaves out what a later run has looked up for an unsent message: the copy looks it up itself. */
function readSteer({ body, turns, run }: StoredRow, { ordinal }: Copy) {
  const steer = readStored(body, STEER);
  const isUnsent = turns === null && run === ordinal;
  return steer && (isUnsent ? { ...steer, attachments: undefined } : steer);
}
