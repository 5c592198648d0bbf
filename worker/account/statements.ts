/** The tables of an account, and the statements of its lists. Without a secondary index, a response costs one row here. */

import type { AccountEvent } from '../../shared/api/account-events.ts';
import type { AccountState } from '../../shared/api/accounts.ts';
import type { AgentInfo } from '../../shared/api/agents.ts';
import type { ConversationInfo } from '../../shared/api/conversations.ts';
import { AgentStatus } from '../../shared/api/conversations.ts';
import { ACCOUNT_LIMITS, GRANT_LIMITS } from '../../shared/limits.ts';
import type {
  Activity,
  AgentListQuery,
  KnownBridge,
  Listed,
  ListQuery,
  PrivateListing,
  SpentSince,
  StillAsked,
  StoredTicket,
} from '../ports/account.ts';
import { Pace } from '../storage/pace.ts';
import { RECORD_TABLE } from '../storage/records.ts';
import { firstRow, insertRow } from '../storage/statements.ts';
import { Tables } from '../storage/tables.ts';
import { CHANGE_TABLE, Changes } from './changes.ts';
import { TICKET_LIMITS } from './limits.ts';
import { PUSH_COLUMN } from './push-statements.ts';
import { folded } from './search.ts';
import { SESSION_TABLES } from './session-statements.ts';
import { readState, STANDING_TABLE } from './standing-statements.ts';
import { addSpent, readHeard, saveCounted, USAGE_TABLES } from './usage-statements.ts';

/** As in worker/storage/migrations.ts. `conversations.search` is the last column, so that a list does not load it. */
export const MIGRATIONS = [
  'create table bridges (id text primary key, connected_at integer not null) without rowid;',
  `create table conversations (
     id text primary key, title text not null, archived integer not null, created integer not null,
     updated integer not null, search_title text not null, search text not null
   ) without rowid;
   create table tickets (id text primary key, expires integer not null) without rowid;`,
  // The status of an agent; null for other conversations.
  'alter table conversations add column agent text;',
  USAGE_TABLES,
  // Empty where it has none. Null where an older version listed it last.
  'alter table conversations add column bridge text;',
  // The conversations whose questions wait for a person, in the order of their waiting. They are few: no index.
  // Older versions did not mark them: an open question is most likely among these. Those without one drop their mark.
  `create table waiting (id text not null);
   insert into waiting select id from conversations order by coalesce(agent, '') = 'waiting' desc, updated desc limit 100;`,
  // Hours; null for a conversation that is not private.
  `create table settings (id integer primary key check (id = 1), delete_after integer);
   alter table conversations add column delete_after integer;`,
  // Older versions did not mark conversations whose calls wait for approval: as above.
  `alter table waiting add column approvals integer not null default 0;
   alter table waiting add column questions integer not null default 0;
   alter table waiting add column asks text not null default '';
   insert into waiting (id) select id from conversations where id not in (select id from waiting)
     order by coalesce(agent, '') = 'waiting' desc, updated desc limit 100;
   alter table bridges add column connected integer not null default 0;
   ${CHANGE_TABLE}`,
  SESSION_TABLES,
  RECORD_TABLE,
  STANDING_TABLE,
  PUSH_COLUMN,
  // Older versions did not mark what is being answered. A conversation that goes on after an upgrade marks itself.
  `alter table conversations add column running integer not null default 0;
   alter table conversations add column subagents integer not null default 0;`,
] as const;

/** Updates the columns of a listed conversation that its own object decides. */
const DESCRIBED =
  'title = excluded.title, archived = excluded.archived, created = excluded.created, search_title = excluded.search_title, agent = excluded.agent, bridge = excluded.bridge, running = excluded.running, subagents = max(subagents, excluded.subagents)';

/** Named statements. They are synchronous, so writes without an await between are atomic. Reading stores nothing. */
export class AccountStore extends Tables {
  readonly #changes: Changes;

  /** `firstChange`: the lowest number that a change may get (worker/storage/restored.ts). */
  constructor(sql: SqlStorage, firstChange: number) {
    super(sql, MIGRATIONS);
    this.#changes = new Changes(sql, firstChange);
  }

  get state(): AccountState {
    const { stored } = this;
    return stored ? readState(stored) : 'active';
  }

  /** {@link Changes}, once the tables are stored. */
  get changes(): Changes {
    this.prepare();
    return this.#changes;
  }

  /** Returns whether it is new. */
  saveBridge(id: string, connectedAtMs: number): boolean {
    const { written } = this;
    const isKnown = written.exec('select 1 from bridges where id = ?', id).toArray().length > 0;
    const again =
      'on conflict (id) do update set connected_at = excluded.connected_at, connected = 1';
    insertRow(written, 'bridges', { id, connected_at: connectedAtMs, connected: 1 }, again);
    return !isKnown;
  }

  /** Returns whether that is new. */
  saveConnected(id: string, isConnected: boolean): boolean {
    const { stored } = this;
    if (!stored) return false;
    const set = 'update bridges set connected = ?2 where id = ?1 and connected <> ?2';
    return stored.exec(set, id, isConnected ? 1 : 0).rowsWritten > 0;
  }

  /** Adds a bridge of another account, while there are few. Returns whether it is new. */
  shareBridge(id: string, atMs: number): boolean {
    const known = this.readBridges();
    const isNew =
      known.length < GRANT_LIMITS.maxShared && !known.some((bridge) => bridge.id === id);
    if (isNew) this.saveBridge(id, atMs);
    return isNew;
  }

  /** The bridge that connected last comes first. */
  readBridges(): KnownBridge[] {
    return this.read<BridgeRow>('select * from bridges order by connected_at desc').map(
      ({ id, connected_at, connected }) => {
        return { id, connectedAtMs: connected_at, connected: connected === 1 };
      },
    );
  }

  /** The event of a change as the account is now. */
  readEvent(id: string): AccountEvent {
    const bridge = this.readBridges().find((known) => known.id === id);
    if (bridge) {
      const { connected, connectedAtMs } = bridge;
      const lastConnected = new Date(connectedAtMs).toISOString();
      return { type: 'bridge', bridge: { id, connected, lastConnected } };
    }
    const conversation = this.readConversation(id);
    if (!conversation) return { type: 'conversation_deleted', conversationId: id };
    return { type: 'conversation', conversation };
  }

  /** Changes nothing if the conversation is listed. Returns whether it was not. */
  insertConversation(listed: Listed): boolean {
    return this.#insert(listed, '', 'nothing');
  }

  /** Lists the conversation, or updates its listing without moving it. */
  saveConversation(listed: Listed): void {
    this.#insert(listed, '', `update set ${DESCRIBED}`);
  }

  /** As {@link saveConversation}, with searchable text and what was spent. Returns whether the spending counts. */
  saveAnswered(listed: Listed, text: string, spent: SpentSince | null): boolean {
    const { written } = this;
    const isNew = spent !== null && addSpent(written, listed.id, spent);
    const through = isNew ? spent.through : undefined;
    const found = `substr(search || char(10) || excluded.search, -${ACCOUNT_LIMITS.maxSearchChars})`;
    const moved = 'updated = max(updated, excluded.updated)';
    const counted = 'counted = excluded.counted';
    const change = `update set ${DESCRIBED}, ${moved}, search = ${found}, ${counted}`;
    this.#insert(listed, text, change, through);
    return isNew;
  }

  /** Returns whether it counts. */
  count(id: string, spent: SpentSince, nowMs: number): boolean {
    const { written } = this;
    const isNew = addSpent(written, id, spent);
    if (isNew) saveCounted(written, id, spent.through, nowMs);
    return isNew;
  }

  #insert(listed: Listed, text: string, onConflict: string, through?: number): boolean {
    const { id, title, createdMs: created, updatedMs: updated } = listed;
    const { written } = this;
    const counted = through ?? readHeard(written, id).through;
    const row = {
      id,
      title,
      created,
      updated,
      counted,
      archived: listed.archived ? 1 : 0,
      search_title: folded(title),
      search: folded(text),
      agent: listed.agent ?? null,
      bridge: listed.bridgeId ?? '',
      delete_after: listed.deleteAfterHours ?? null,
      running: listed.isRunning ? 1 : 0,
      subagents: listed.hasSubagents ? 1 : 0,
    };
    const otherwise = `on conflict (id) do ${onConflict}`;
    return insertRow(written, 'conversations', row, otherwise).rowsWritten > 0;
  }

  /** Returns whether it was listed. */
  deleteConversation(id: string): boolean {
    const { stored } = this;
    if (!stored) return false;
    for (const table of ['waiting', 'unlisted']) {
      stored.exec(`delete from ${table} where id = ?`, id);
    }
    return stored.exec('delete from conversations where id = ?', id).rowsWritten > 0;
  }

  /** Returns whether that is new for a listed conversation. */
  saveActivity(id: string, activity: Activity): boolean {
    const { asks, isRunning, hasSubagents } = activity;
    const sql = asks === '' ? this.stored : this.written;
    if (!sql) return false;
    const marked =
      asks === ''
        ? sql.exec('delete from waiting where id = ?', id).rowsWritten
        : mark(sql, id, activity);
    const changed = sql.exec(
      `update conversations set running = ?2, subagents = max(subagents, ?3)
       where id = ?1 and (running <> ?2 or subagents < ?3)`,
      id,
      isRunning ? 1 : 0,
      hasSubagents ? 1 : 0,
    );
    return marked + changed.rowsWritten > 0 && this.readConversation(id) !== null;
  }

  /** What waits in a conversation, as {@link saveActivity} has it. */
  readAsks(id: string): string {
    const [row] = this.read<{ asks: string }>('select asks from waiting where id = ?', id);
    return row?.asks ?? '';
  }

  /** How many approvals and questions wait in all conversations. */
  countWaiting(): number {
    const query = 'select coalesce(sum(approvals + questions), 0) as count from waiting';
    return this.written.exec<{ count: number }>(query).one().count;
  }

  readWaiting(): string[] {
    const rows = this.read<{ id: string }>('select id from waiting order by rowid');
    return rows.map(({ id }) => id);
  }

  readConversation(id: string): ConversationInfo | null {
    const { stored } = this;
    if (!stored) return null;
    const [row] = stored.exec(`${LISTED} where id = ?`, id).raw<ListedColumns>();
    return row ? parseListed(row) : null;
  }

  /** The conversation that was answered last comes first. Reads each row once, for any number of words. */
  async findConversations(query: ListQuery, stillAsked: StillAsked): Promise<ConversationInfo[]> {
    const { words, archived, bridgeId } = query;
    return await this.#find(
      query,
      stillAsked,
      `archived = ?6
       and not exists (
         select 1 from json_each(?7) where instr(search_title, value) = 0 and instr(search, value) = 0
       )
       and (?8 is null or bridge is null or bridge = ?8)`,
      archived ? 1 : 0,
      JSON.stringify(words),
      bridgeId ?? null,
    );
  }

  /** The agent that answered last comes first. */
  async findAgents(query: AgentListQuery, stillAsked: StillAsked): Promise<AgentInfo[]> {
    const which =
      "agent is not null and iif(?6 is null, agent <> 'archived', ?6 in (agent, 'any'))";
    const found = await this.#find(query, stillAsked, which, query.status ?? null);
    return found.map(({ id, title, created, updated, agent }) => {
      return { id, title, created, updated, status: AgentStatus.parse(agent) };
    });
  }

  /**
   * Reads all rows in parts, in the order of their ids. What is answered meanwhile has the place that it had when it was
   * read, so that no page has it twice or not at all. Finds nothing where the client has left.
   */
  async #find(
    { limit, after }: Pick<ListQuery, 'limit' | 'after'>,
    stillAsked: StillAsked,
    which: string,
    ...bindings: SqlStorageValue[]
  ): Promise<ConversationInfo[]> {
    const pace = new Pace();
    let places: (readonly [updated: number, id: string])[] = [];
    const { updatedMs = Number.MAX_SAFE_INTEGER, id: afterId = '' } = after ?? {};
    for (let from: string | undefined = ''; from !== undefined; ) {
      const { stored } = this;
      if (!stored) return [];
      const next = 'select id from conversations where id > ? order by id limit 1 offset ?';
      const end: string | undefined = firstRow<{ id: string }>(stored, next, from, pace.rows)?.id;
      const rows = stored.exec(
        `select updated, id from conversations
         where id > ?1 and id <= ?2 and (updated < ?3 or (updated = ?3 and id > ?4)) and ${which}
         order by updated desc, id limit ?5`,
        ...[from, end ?? LAST_ID, updatedMs, afterId, limit, ...bindings],
      );
      places = [...places, ...rows.raw<[number, string]>()];
      places = places.sort(([one, a], [other, b]) => other - one || (a < b ? -1 : 1));
      places = places.slice(0, limit);
      from = end;
      if (from === undefined) break;
      await pace.rest();
      if (!(await isStillAsked(stillAsked))) return [];
    }
    return places.flatMap(([updated, id]) => {
      const info = this.readConversation(id);
      return info ? { ...info, updated: new Date(updated).toISOString() } : [];
    });
  }

  /** Null for a conversation that is not listed, or is not private. */
  readPrivate(id: string): PrivateListing | null {
    const [row] = this.read<{ created: number; bridge: string; hours: number }>(
      `select created, bridge, delete_after as hours from conversations
       where id = ? and delete_after is not null`,
      id,
    );
    if (!row) return null;
    const { created: createdMs, bridge, hours: deleteAfterHours } = row;
    return { createdMs, bridgeId: bridge || null, deleteAfterHours };
  }

  /** Undefined where it was never set. */
  readDeleteAfterHours(): number | null | undefined {
    const query = 'select delete_after as hours from settings';
    return this.read<{ hours: number | null }>(query)[0]?.hours;
  }

  saveDeleteAfterHours(hours: number | null): void {
    const replace = 'on conflict (id) do update set delete_after = excluded.delete_after';
    insertRow(this.written, 'settings', { id: 1, delete_after: hours }, replace);
  }

  /** Whether the ticket opens its stream, as its port says. Also deletes tickets that have long expired. */
  useTicket({ id, firstMs, expiresMs }: StoredTicket, isReturn: boolean, nowMs: number): boolean {
    const { written } = this;
    written.exec('delete from tickets where expires < ?', nowMs - TICKET_LIMITS.keptMs);
    if (written.exec('select 1 from tickets where id = ?', id).toArray().length > 0)
      return isReturn;
    if (firstMs <= nowMs) return false;
    insertRow(written, 'tickets', { id, expires: expiresMs });
    return true;
  }
}

async function isStillAsked(stillAsked: StillAsked): Promise<boolean> {
  try {
    return await stillAsked();
  } catch {
    return false;
  }
}

/** Keeps the place of a conversation that waits already. Returns the rows written. */
function mark(sql: SqlStorage, id: string, { approvals, questions, asks }: Activity): number {
  const values = [id, approvals, questions, asks];
  const updated = sql.exec(
    'update waiting set approvals = ?2, questions = ?3, asks = ?4 where id = ?1 and asks <> ?4',
    ...values,
  );
  const inserted = sql.exec(
    `insert into waiting (id, approvals, questions, asks)
     select ?1, ?2, ?3, ?4 where not exists (select 1 from waiting where id = ?1)`,
    ...values,
  );
  return updated.rowsWritten + inserted.rowsWritten;
}

/** Behind the ids of all conversations. */
const LAST_ID = '~';

const LISTED = `
  select id, title, archived, created, updated, agent, bridge, running, subagents,
    coalesce(approvals, 0), coalesce(questions, 0)
  from conversations left join waiting using (id)`;

interface BridgeRow extends Record<string, SqlStorageValue> {
  id: string;
  connected_at: number;
  connected: number;
}

/** The columns of {@link LISTED}. As objects with names, the rows of a page would take a quarter longer to read. */
type ListedColumns = [
  id: string,
  title: string,
  archived: number,
  created: number,
  updated: number,
  agent: string | null,
  bridge: string | null,
  running: number,
  subagents: number,
  approvals: number,
  questions: number,
];

function parseListed(row: ListedColumns): ConversationInfo {
  const [id, title, archived, created, updated, agent, bridge, ...activity] = row;
  const [running, subagents, approvals, questions] = activity;
  return {
    id,
    title,
    archived: archived === 1,
    created: new Date(created).toISOString(),
    updated: new Date(updated).toISOString(),
    bridgeId: bridge || null,
    ...(agent !== null && { agent: AgentStatus.parse(agent) }),
    running: running === 1,
    subagents: subagents === 1,
    waiting: { approvals, questions },
  };
}
