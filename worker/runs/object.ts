/** The Durable Object that an own server has one of: the conversations that a new start must wake. */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { logEvent } from '../health/log.ts';
import { conversationOf } from '../objects.ts';
import type { RunsPort } from '../ports/runs.ts';
import { inTime, reach } from '../reach.ts';
import { Tables } from '../storage/tables.ts';

/** As in worker/storage/migrations.ts. */
const MIGRATIONS = ['create table runs (conversation text primary key) without rowid;'];

/** Conversations woken at a time: each reads its rows and begins a request to a model. */
const WOKEN_AT_ONCE = 8;

/** Costs a row when a run begins, and one when the conversation is at rest. Reading stores nothing. */
export class RunsInProgress extends DurableObject<Env> implements RunsPort {
  readonly #tables: Tables;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#tables = new Tables(state.storage.sql, MIGRATIONS);
  }

  note(conversationId: string, isInProgress: boolean): void {
    const change = isInProgress
      ? 'insert into runs (conversation) values (?) on conflict do nothing'
      : 'delete from runs where conversation = ?';
    this.#tables.written.exec(change, conversationId);
  }

  async wake(): Promise<void> {
    const rows = this.#tables.read<{ conversation: string }>('select conversation from runs');
    const workers = Array.from({ length: WOKEN_AT_ONCE }, async () => {
      for (let row = rows.pop(); row; row = rows.pop()) await this.#wake(row.conversation);
    });
    await Promise.all(workers);
  }

  /** Never rejects: the alarm of a conversation that could not be reached wakes it within a minute. */
  async #wake(conversationId: string): Promise<void> {
    try {
      const wake = () => inTime<boolean>(conversationOf(this.env, { conversationId }).wake());
      if (!(await reach<boolean>(wake))) this.note(conversationId, false);
    } catch (error) {
      logEvent('run_unwoken', { conversation: conversationId, error });
    }
  }
}
