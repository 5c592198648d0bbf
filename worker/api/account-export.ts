/** All that an account has, as lines of JSON. */
import type { AccountExportLine, AccountState } from '../../shared/api/accounts.ts';
import type { UsageEntry } from '../../shared/api/usage.ts';
import { toWireError, WireError } from '../../shared/errors.ts';
import { RECORD_LIMITS, USAGE_LIMITS } from '../../shared/limits.ts';
import { readDocument } from '../conversation/reading/requests.ts';
import type { Chapter } from '../conversation/reading/views.ts';
import type { Env } from '../env.ts';
import { accountOf, directoryOf } from '../objects.ts';
import type { KnownBridge, StoredSession, UsageRange } from '../ports/account.ts';
import type { Caller } from '../ports/conversation.ts';
import type { StoredPasskey } from '../ports/directory.ts';
import { reach } from '../reach.ts';
import type { StoredRecord } from '../storage/records.ts';
import { viewsFrom } from './export.ts';
import { shownPasskey } from './passkeys.ts';
import { shownRecord } from './records.ts';

interface ExportedAccount {
  readonly account: string;
  readonly state: AccountState;
}

/** Reads a page when the pages before it are taken, so that it never holds more than one chapter of a conversation. */
export async function* accountLines(env: Env, exported: ExportedAccount): AsyncGenerator<string> {
  for await (const line of partsOf(env, exported)) yield `${JSON.stringify(line)}\n`;
}

async function* partsOf(
  env: Env,
  { account, state }: ExportedAccount,
): AsyncGenerator<AccountExportLine> {
  const object = () => accountOf(env, account);
  const exported = new Date().toISOString();
  const deleteAfterHours = (await reach(async () => await object().deleteAfterHours())) ?? null;
  yield { type: 'account', version: 1, account, state, exported, deleteAfterHours };
  for (const session of await reach<StoredSession[]>(() => object().sessions())) {
    const { id, name, kind, madeMs, seenMs } = session;
    yield { type: 'session', id, name, kind, created: time(madeMs), lastUsed: time(seenMs) };
  }
  for (const passkey of await reach<StoredPasskey[]>(() => directoryOf(env).passkeys(account))) {
    yield { type: 'passkey', passkey: shownPasskey(passkey) };
  }
  for (const { id, connectedAtMs } of await reach<KnownBridge[]>(() => object().bridges())) {
    yield { type: 'bridge', id, lastConnected: time(connectedAtMs) };
  }
  yield* usageOf(object);
  yield* recordsOf(object);
  let conversations = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: string[] = await reach(async () => await object().conversationsAfter(after ?? ''));
    for (const conversationId of page) {
      yield* conversationOf(env, { account, conversationId });
      conversations++;
    }
    after = page.at(-1);
  }
  yield { type: 'end', conversations };
}

type AccountObject = () => ReturnType<typeof accountOf>;

async function* usageOf(object: AccountObject): AsyncGenerator<AccountExportLine> {
  for (let after: UsageRange['after'] | undefined = null; after !== undefined; ) {
    const range = { from: '', to: '9999-12-31', limit: USAGE_LIMITS.maxPage, after };
    const page: { items: UsageEntry[]; hasMore: boolean } = await reach(
      async () => await object().usage(range),
    );
    for (const entry of page.items) yield { type: 'usage', entry };
    after = page.hasMore ? page.items.at(-1) : undefined;
  }
}

async function* recordsOf(object: AccountObject): AsyncGenerator<AccountExportLine> {
  for (let before: number | null | undefined = null; before !== undefined; ) {
    const page = { limit: RECORD_LIMITS.maxPage, before };
    const records: StoredRecord[] = await reach(async () => await object().records(page));
    for (const record of records) yield { type: 'record', record: shownRecord(record) };
    before = records.at(-1)?.number;
  }
}

/** In parts, each with some exchanges. What cannot be read, or was deleted meanwhile, is named with the reason. */
async function* conversationOf(env: Env, caller: Caller): AsyncGenerator<AccountExportLine> {
  try {
    const from = { ordinal: 1, until: null };
    const opened = await readDocument(env, caller, { type: 'chapter', from });
    if (!opened.ok) return yield unreadable(caller, WireError.parse(await opened.json()));
    for await (const conversation of viewsFrom(env, caller, await opened.json<Chapter>())) {
      yield { type: 'conversation', conversation };
    }
  } catch (error) {
    yield unreadable(caller, toWireError(error).body);
  }
}

function unreadable({ conversationId }: Caller, { error: { code } }: WireError): AccountExportLine {
  return { type: 'unreadable', conversationId, code };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
