/** The stored turns and results of a conversation, and every SQL statement for them. */

import { TaskSpent } from '../../../shared/wire/documents.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import type { Sql } from '../../storage/row-meter.ts';
import { firstRow, insertRow } from '../../storage/statements.ts';
import type { SentResult, Turn } from './rows.ts';
import { RESULT, readStored, TURN } from './stored.ts';

/** A result with its turn; `call` is the call's index in the turn. */
export interface StoredResult {
  readonly turn: number;
  readonly call: number;
  readonly result: SentResult;
}

/** The named statements of turns and results. */
export class TurnStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  insertTurn({ number, run, ...body }: Turn): void {
    insertRow(this.#sql, 'turns', { number, run, body: JSON.stringify(body) });
  }

  /** The number of the newest turn; 0 when there is none. */
  readLastTurnNumber(): number {
    return this.#sql
      .exec<{ number: number }>('select coalesce(max(number), 0) as number from turns')
      .one().number;
  }

  /** The turns from number `from` on, in order, up to those of `run`. */
  readTurns(from: number, run: number): Turn[] {
    const rows = this.#sql.exec(
      'select number, run, body from turns where number >= ? and run <= ? order by number',
      from,
      run,
    );
    return Array.from(
      rows.raw<[number: number, run: number, body: string]>(),
      ([number, run, body]) => parseTurn({ number, run, body }),
    );
  }

  readTurn(number: number): Turn | null {
    const query = 'select number, run, body from turns where number = ?';
    const row = firstRow<KeyedTurnRow>(this.#sql, query, number);
    return row ? parseTurn(row) : null;
  }

  /** The ids of all calls of the tools that `isNamed` accepts, in order. Reads every turn. */
  callsNamed(isNamed: (name: string) => boolean): string[] {
    const rows = this.#sql.exec<{ name: string; callId: string }>(
      `select call.value ->> '$.name' as name, call.value ->> '$.callId' as callId
       from turns, json_each(case when json_valid(body) then body else '{}' end, '$.calls') as call
       order by number`,
    );
    return rows.toArray().flatMap(({ name, callId }) => (isNamed(name) ? [callId] : []));
  }

  insertResult(turn: number, call: number, result: ToolResult): void {
    insertRow(this.#sql, 'results', { turn, call, body: JSON.stringify(result) });
  }

  /** The result of one call, without metadata; null while it has none. */
  readResult(turn: number, call: number): SentResult | null {
    const row = firstRow<ResultRow>(
      this.#sql,
      `select turn, call, case when json_valid(body) then json_remove(body, '$.metadata') else body end as body
       from results where turn = ? and call = ?`,
      turn,
      call,
    );
    return row ? parseResult(row).result : null;
  }

  /** What the subagent of this call has spent; null while it has no result, or where the result does not say. */
  readTaskSpent(turn: number, call: number): TaskSpent | null {
    const row = firstRow<{ spent: string | null }>(
      this.#sql,
      `select case when json_valid(body) then body -> '$.metadata' end as spent
       from results where turn = ? and call = ?`,
      turn,
      call,
    );
    return row ? readStored(row.spent, TaskSpent) : null;
  }

  /** The indexes of this turn's calls that have a result. */
  readSettled(turn: number): number[] {
    return this.#sql
      .exec<{ call: number }>('select call from results where turn = ?', turn)
      .toArray()
      .map(({ call }) => call);
  }

  /**
   * The results of the turns from `fromTurn` on. Leaves out metadata, which was for people, except lists of todos, names of skills, and
   * images of turns after `prunedThrough`. Reads only the head and tail of long results of turns up to `prunedThrough`: together they can exceed memory.
   */
  readResults(fromTurn: number, prunedThrough: number): StoredResult[] {
    return this.#sql
      .exec<ResultRow>(READ_RESULTS, fromTurn, prunedThrough, PRUNED_RESULT_CHARS)
      .toArray()
      .map(parseResult);
  }

  /** The results of the calls that open and close the worktree, with their metadata, the newest first, read on demand. */
  *worktreeResultsBack(): Generator<StoredResult, undefined> {
    const rows = this.#sql.exec<ResultRow>(
      `select turn, call, results.body from results join turns on number = turn
       where case when json_valid(turns.body) then turns.body ->> '$.own' = 'worktree' end
       order by turn desc`,
    );
    for (const row of rows) yield parseResult(row);
    return undefined;
  }

  /** The results whose metadata has a list of todos, the newest first, read on demand. */
  *listsBack(fromTurn: number): Generator<StoredResult, undefined> {
    const rows = this.#sql.exec<ResultRow>(
      `select turn, call, body from results
       where turn >= ? and case when json_valid(body) then body -> '$.metadata.list' is not null end
       order by turn desc, call desc`,
      fromTurn,
    );
    for (const row of rows) yield parseResult(row);
    return undefined;
  }
}

/** Characters that are read of a result that the model gets as a note: what a summary can show of it. */
const PRUNED_RESULT_CHARS = 2_000;

const READ_RESULTS = `
  select turn, call, case
    when not json_valid(body) then body
    when body -> '$.metadata.list' is not null or body -> '$.metadata.skill' is not null then body
    when turn > ?2 and body -> '$.metadata.images' is not null then body
    when turn <= ?2 and length(body) > ?3 and length(body ->> '$.data') > ?3 then json_set(
      json_remove(body, '$.metadata'),
      '$.data', substr(body ->> '$.data', 1, ?3 / 2) || char(10) || substr(body ->> '$.data', -(?3 / 2)),
      '$.wholeChars', length(body ->> '$.data'))
    else json_remove(body, '$.metadata')
  end as body
  from results where turn >= ?1 order by turn, call`;

interface KeyedTurnRow extends Record<string, SqlStorageValue> {
  number: number;
  run: number;
  body: string;
}

interface ResultRow extends Record<string, SqlStorageValue> {
  turn: number;
  call: number;
  body: string;
}

function parseTurn({ body, ...keys }: KeyedTurnRow): Turn {
  return { ...(readStored(body, TURN) ?? DAMAGED_TURN), ...keys };
}

function parseResult({ turn, call, body }: ResultRow): StoredResult {
  return { turn, call, result: readStored(body, RESULT) ?? DAMAGED_RESULT };
}

/** Stands for a damaged turn, so that the model does not answer as if nothing had been said there. */
const DAMAGED_TURN: Omit<Turn, 'number' | 'run'> = {
  text: '[What was said here is damaged in storage and cannot be read any more.]',
  reasoning: null,
  calls: [],
  usage: null,
  lastSequence: 0,
  atMs: 0,
  isDamaged: true,
};

const DAMAGED_RESULT: SentResult = failure(
  'UNREADABLE',
  'The result of this call is damaged in storage and cannot be read any more.',
);
