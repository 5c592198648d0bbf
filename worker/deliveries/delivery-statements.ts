/** The stored deliveries of a conversation, and their statements. */
import { DeliveryState } from '../../shared/api/agents.ts';
import type { Sql } from '../storage/row-meter.ts';
import { insertRow, updateRows } from '../storage/statements.ts';

export interface DeliveryRow {
  readonly number: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When the next attempt is due, epoch milliseconds. */
  readonly nextMs: number;
  /** The message's body, JSON. */
  readonly body: string;
  /** The receiver's last answer: its status, or why there was none; null before the first attempt. */
  readonly answer: string | null;
}

/** Named statements, all synchronous. */
export class DeliveryStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  insert({ nextMs, ...row }: DeliveryRow): void {
    insertRow(this.#sql, 'deliveries', { ...row, next_ms: nextMs });
  }

  update({ number, state, attempts, nextMs, answer }: DeliveryRow): void {
    const changed = { state, attempts, next_ms: nextMs, answer };
    updateRows(this.#sql, 'deliveries', changed, 'where number = ?', number);
  }

  /** Deletes the deliveries up to this number. */
  forget(number: number): void {
    this.#sql.exec('delete from deliveries where number <= ?', number);
  }

  /** The newest first. */
  readAll(): DeliveryRow[] {
    const rows = this.#sql.exec<Stored>('select * from deliveries order by number desc').toArray();
    return rows.map(({ next_ms: nextMs, state, ...row }) => {
      return { ...row, nextMs, state: DeliveryState.parse(state) };
    });
  }
}

interface Stored extends Record<string, SqlStorageValue> {
  number: number;
  state: string;
  attempts: number;
  next_ms: number;
  body: string;
  answer: string | null;
}
