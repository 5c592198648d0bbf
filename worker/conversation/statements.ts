/** What a conversation stores, and every statement that touches it. Integer keys, no secondary index, rows are appended. */
import type { TapeEvent } from '../../shared/events.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { migrate, openStored } from '../storage/migrations.ts';
import type {
  ConversationRow,
  Machine,
  NewRun,
  Run,
  RunRequest,
  RunStatus,
  Steer,
  TapeRow,
  Turn,
} from './rows.ts';
import { titleOf } from './title.ts';

const MIGRATIONS = [
  `create table conversation (id text primary key, owner text not null, bridge text, created text not null) without rowid;
   create table tape (position integer primary key, body text not null);
   create table runs (
     ordinal integer primary key, status text not null, first integer not null, started integer, last integer,
     request text not null, machine text,
     takeovers integer not null default 0, deadline integer,
     failures integer not null default 0, not_before integer not null default 0
   );
   create table turns (number integer primary key, run integer not null, body text not null);
   create table results (turn integer not null, call integer not null, body text not null, primary key (turn, call)) without rowid;`,
  `alter table conversation add column title text;
   alter table conversation add column archived integer not null default 0;
   alter table conversation add column ephemeral integer not null default 0;`,
  'create table steers (number integer primary key, run integer not null, turns integer, body text not null);',
] as const;

/** The named statements of one conversation. Everything is synchronous: writes without an await between are atomic. */
export class ConversationStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The conversation; null where nothing was ever stored, or only part of a copy. */
  readConversation(): ConversationRow | null {
    if (!openStored(this.#sql, MIGRATIONS)) return null;
    const [row] = this.#sql
      .exec<StoredConversation>(
        'select id, owner, bridge, created, title, archived, ephemeral from conversation',
      )
      .toArray();
    if (!row) return null;
    const title = row.title ?? titleOf(this.#firstMessage());
    return { ...row, title, archived: row.archived === 1, ephemeral: row.ephemeral === 1 };
  }

  /** Makes the tables. A copy needs them before its conversation, which comes last. */
  prepare(): void {
    migrate(this.#sql, MIGRATIONS);
  }

  create(row: ConversationRow): void {
    this.prepare();
    this.#sql.exec(
      'insert into conversation (id, owner, bridge, created, title, archived, ephemeral) values (?, ?, ?, ?, ?, ?, ?)',
      row.id,
      row.owner,
      row.bridge,
      row.created,
      row.title,
      row.archived ? 1 : 0,
      row.ephemeral ? 1 : 0,
    );
  }

  /** Stores what a person can change of the conversation. */
  describe({ title, archived }: Pick<ConversationRow, 'title' | 'archived'>): void {
    this.#sql.exec('update conversation set title = ?, archived = ?', title, archived ? 1 : 0);
  }

  appendTape(position: number, events: readonly TapeEvent[]): void {
    this.#sql.exec(
      'insert into tape (position, body) values (?, ?)',
      position,
      JSON.stringify(events),
    );
  }

  /** The row that holds `position`, or the last one before it. */
  readTapeAt(position: number): TapeRow | null {
    return (
      this.#tapeRows(
        'select position, body from tape where position <= ? order by position desc limit 1',
        position,
      ).next().value ?? null
    );
  }

  /** Rows from the one that begins at or after `position`, in order, read as they are asked for. */
  tapeFrom(position: number): Generator<TapeRow, undefined> {
    return this.#tapeRows(
      'select position, body from tape where position >= ? order by position',
      position,
    );
  }

  *#tapeRows(query: string, ...bindings: number[]): Generator<TapeRow, undefined> {
    for (const row of this.#sql.exec<{ position: number; body: string }>(query, ...bindings)) {
      yield { position: row.position, events: JSON.parse(row.body) as TapeEvent[] };
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

  insertRun(run: NewRun): void {
    this.#sql.exec(
      'insert into runs (ordinal, status, first, started, request, machine) values (?, ?, ?, ?, ?, ?)',
      run.ordinal,
      run.status,
      run.first,
      run.started,
      JSON.stringify(run.request),
      run.machine && JSON.stringify(run.machine),
    );
  }

  startRun(ordinal: number, started: number, machine: Machine | null): void {
    this.#sql.exec(
      "update runs set status = 'running', started = ?, machine = ? where ordinal = ?",
      started,
      machine && JSON.stringify(machine),
      ordinal,
    );
  }

  countTakeover(ordinal: number, takeovers: number): void {
    this.#sql.exec('update runs set takeovers = ? where ordinal = ?', takeovers, ordinal);
  }

  countFailure(ordinal: number, failures: number, notBefore: number): void {
    this.#sql.exec(
      'update runs set failures = ?, not_before = ? where ordinal = ?',
      failures,
      notBefore,
      ordinal,
    );
  }

  /** A turn was completed: what went wrong before it does not count any more. */
  clearTroubles(ordinal: number): void {
    this.#sql.exec('update runs set takeovers = 0, failures = 0 where ordinal = ?', ordinal);
  }

  setDeadline(ordinal: number, deadline: number): void {
    this.#sql.exec('update runs set deadline = ? where ordinal = ?', deadline, ordinal);
  }

  endRun(ordinal: number, status: RunStatus, last: number): void {
    this.#sql.exec(
      'update runs set status = ?, last = ?, takeovers = 0 where ordinal = ?',
      status,
      last,
      ordinal,
    );
  }

  readRuns(): Run[] {
    return this.#sql.exec<RunRow>('select * from runs order by ordinal').toArray().map(parseRun);
  }

  /** For a run that has not started. */
  updateRequest(ordinal: number, request: RunRequest): void {
    this.#sql.exec(
      'update runs set request = ? where ordinal = ?',
      JSON.stringify(request),
      ordinal,
    );
  }

  insertSteer({ number, run, turns, ...body }: Steer): void {
    this.#sql.exec(
      'insert into steers (number, run, turns, body) values (?, ?, ?, ?)',
      number,
      run,
      turns,
      JSON.stringify(body),
    );
  }

  placeSteers(run: number, turns: number): void {
    this.#sql.exec('update steers set turns = ? where run = ? and turns is null', turns, run);
  }

  readSteers(): Steer[] {
    return this.#sql
      .exec<{ number: number; run: number; turns: number | null; body: string }>(
        'select number, run, turns, body from steers order by number',
      )
      .toArray()
      .map(({ body, ...keys }) => ({
        ...keys,
        ...(JSON.parse(body) as Pick<Steer, 'content' | 'idempotency'>),
      }));
  }

  insertTurn(turn: Turn): void {
    const { number, run, ...body } = turn;
    this.#sql.exec(
      'insert into turns (number, run, body) values (?, ?, ?)',
      number,
      run,
      JSON.stringify(body),
    );
  }

  readTurns(): Turn[] {
    return this.#sql
      .exec<{ number: number; run: number; body: string }>(
        'select number, run, body from turns order by number',
      )
      .toArray()
      .map(({ number, run, body }) => ({
        number,
        run,
        ...(JSON.parse(body) as Omit<Turn, 'number' | 'run'>),
      }));
  }

  insertResult(turn: number, call: number, result: ToolResult): void {
    this.#sql.exec(
      'insert into results (turn, call, body) values (?, ?, ?)',
      turn,
      call,
      JSON.stringify(result),
    );
  }

  readResults(): { turn: number; call: number; result: ToolResult }[] {
    return this.#sql
      .exec<{ turn: number; call: number; body: string }>('select turn, call, body from results')
      .toArray()
      .map(({ turn, call, body }) => ({ turn, call, result: JSON.parse(body) as ToolResult }));
  }
}

interface StoredConversation extends Record<string, SqlStorageValue> {
  id: string;
  owner: string;
  bridge: string | null;
  created: string;
  /** Null for one that was made before there were titles. */
  title: string | null;
  archived: number;
  ephemeral: number;
}

interface RunRow extends Record<string, SqlStorageValue> {
  ordinal: number;
  status: string;
  first: number;
  started: number | null;
  last: number | null;
  request: string;
  machine: string | null;
  takeovers: number;
  deadline: number | null;
  failures: number;
  not_before: number;
}

/** What we wrote ourselves is trusted: the casts name what {@link ConversationStore.insertRun} put in. */
function parseRun(row: RunRow): Run {
  return {
    ordinal: row.ordinal,
    status: row.status as RunStatus,
    first: row.first,
    started: row.started,
    last: row.last,
    request: JSON.parse(row.request) as RunRequest,
    machine: row.machine === null ? null : (JSON.parse(row.machine) as Machine),
    takeovers: row.takeovers,
    deadline: row.deadline,
    failures: row.failures,
    notBefore: row.not_before,
  };
}
