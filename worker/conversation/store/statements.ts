/** The stored conversation row and tape, and every SQL statement for them. Runs have their own statements. */
import { AgentStatus } from '../../../shared/api/conversations.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { migrate, openStored } from '../../storage/migrations.ts';
import { RowMeter, type Sql } from '../../storage/row-meter.ts';
import { firstRow, insertRow, updateRows } from '../../storage/statements.ts';
import { ImageStore } from './image-statements.ts';
import {
  type AgentRow,
  AgentSettings,
  type ConversationRow,
  Parent,
  type TapeRow,
  WorktreeClosing,
} from './rows.ts';
import { RunStore } from './run-statements.ts';
import { MIGRATIONS } from './schema.ts';
import { readEvents, readStored } from './stored.ts';
import { titleOf } from './title.ts';

/** The fields of a conversation that can change. */
export type Description = Pick<ConversationRow, 'title' | 'archived' | 'titleAttempts'>;

/** The named statements of one conversation. All are synchronous: writes without an await between them are atomic. */
export class ConversationStore {
  readonly runs: RunStore;
  readonly images: ImageStore;
  readonly #sql: Sql;
  /** For creating the tables, whose writes do not count as rows of a response. */
  readonly #uncounted: Sql;

  constructor(sql: SqlStorage, meter = new RowMeter()) {
    this.#uncounted = sql;
    this.#sql = meter.watch(sql);
    this.runs = new RunStore(this.#sql);
    this.images = new ImageStore(this.#sql);
  }

  /** The conversation; null where nothing is stored, or only part of a copy. */
  readConversation(): ConversationRow | null {
    if (!openStored(this.#uncounted, MIGRATIONS)) return null;
    const row = firstRow<StoredConversation>(this.#sql, 'select * from conversation');
    if (!row) return null;
    const deleteAfterHours = row.delete_after;
    const deletedMs = row.deleted ?? undefined;
    const title = String(row.title ?? titleOf(this.#firstMessage()));
    const created = Number.isNaN(Date.parse(row.created)) ? UNKNOWN_TIME : row.created;
    const { id, owner, bridge, title_attempts: titleAttempts } = row;
    const status = readStatus(row.agent_status);
    const settings = readStored(row.agent, AgentSettings) ?? {};
    const closing = readStored(row.agent_closing, WorktreeClosing) ?? undefined;
    const listed = readStatus(row.agent_told);
    const agent = status ? { settings, status, listed, closing } : undefined;
    const parent =
      row.parent === null ? undefined : (readStored(row.parent, Parent) ?? LOST_PARENT);
    const flags = { archived: row.archived === 1, ephemeral: row.ephemeral === 1 };
    const named = { id, owner, bridge, created, title, titleAttempts };
    return { ...named, ...flags, deleteAfterHours, deletedMs, agent, parent };
  }

  /** Creates the tables. A copy needs them before its conversation row, which is written last. */
  prepare(): void {
    migrate(this.#uncounted, MIGRATIONS);
  }

  create(row: ConversationRow): void {
    this.prepare();
    const { id, owner, bridge, created, title } = row;
    insertRow(this.#sql, 'conversation', {
      id,
      owner,
      bridge,
      created,
      title,
      archived: row.archived ? 1 : 0,
      ephemeral: row.ephemeral ? 1 : 0,
      title_attempts: row.titleAttempts,
      agent_status: row.agent?.status ?? null,
      agent: row.agent ? JSON.stringify(row.agent.settings) : null,
      parent: row.parent ? JSON.stringify(row.parent) : null,
      delete_after: row.deleteAfterHours,
      deleted: row.deletedMs ?? null,
    });
  }

  /** Stores the fields that can change. */
  describe({ title, archived, titleAttempts }: Description): void {
    const changed = { title, archived: archived ? 1 : 0, title_attempts: titleAttempts };
    updateRows(this.#sql, 'conversation', changed);
  }

  /** Stores what an agent's row has. */
  saveAgent({ settings, status, listed, closing }: AgentRow): void {
    updateRows(this.#sql, 'conversation', {
      agent: JSON.stringify(settings),
      agent_status: status,
      agent_told: listed,
      agent_closing: closing ? JSON.stringify(closing) : null,
    });
  }

  appendTape(position: number, events: readonly TapeEvent[]): void {
    insertRow(this.#sql, 'tape', { position, body: JSON.stringify(events) });
  }

  /** The row that contains `position`, or the last one before it. */
  readTapeAt(position: number): TapeRow | null {
    return (
      this.#tapeRows(
        'select position, body from tape where position <= ? order by position desc limit 1',
        position,
      ).next().value ?? null
    );
  }

  /** The rows that begin at or after `position`, in order, read on demand. */
  tapeFrom(position: number): Generator<TapeRow, undefined> {
    return this.#tapeRows(
      'select position, body from tape where position >= ? order by position',
      position,
    );
  }

  /** The rows between these positions that can have a `plan_update`, in order. */
  planRows(from: number, to: number): Generator<TapeRow, undefined> {
    return this.#tapeRows(
      `select position, body from tape
       where position >= ? and position < ? and body like '%"type":"plan_update"%' order by position`,
      from,
      to,
    );
  }

  /** The bytes of each row that begins between these positions, the last row first, read on demand. */
  *tapeSizesBack(from: number, to: number): Generator<number, undefined> {
    const rows = this.#sql.exec<{ bytes: number }>(
      'select octet_length(body) as bytes from tape where position >= ? and position < ? order by position desc',
      from,
      to,
    );
    for (const { bytes } of rows) yield bytes;
    return undefined;
  }

  *#tapeRows(query: string, ...bindings: number[]): Generator<TapeRow, undefined> {
    for (const row of this.#sql.exec<{ position: number; body: string }>(query, ...bindings)) {
      yield { position: row.position, events: readEvents(row.body) };
    }
    return undefined;
  }

  #firstMessage(): string {
    for (const { events } of this.tapeFrom(0)) {
      const [first] = events;
      return first?.type === 'message' ? first.message.content : '';
    }
    return '';
  }
}

/** Stands for a damaged `parent`: no conversation has these ids, so no one waits for the subagent. */
const LOST_PARENT: Parent = { conversationId: '', callId: '' };

/** Stands for a damaged `created`. */
const UNKNOWN_TIME = new Date(0).toISOString();

interface StoredConversation extends Record<string, SqlStorageValue> {
  id: string;
  owner: string;
  bridge: string | null;
  created: string;
  /** Null for a conversation that is older than this column. */
  title: string | null;
  archived: number;
  ephemeral: number;
  title_attempts: number | null;
  agent_status: string | null;
  agent_told: string | null;
  agent: string | null;
  agent_closing: string | null;
  parent: string | null;
  delete_after: number | null;
  deleted: number | null;
}

/** Null where the conversation is no agent, and for a status of a later version. */
function readStatus(text: string | null): AgentStatus | null {
  return AgentStatus.safeParse(text).data ?? null;
}
