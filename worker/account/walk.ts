/** Walks through all that an account has: cuts off what is over, and deletes an account. The alarm calls it. */
import type { Env } from '../env.ts';
import { logEvent } from '../health/log.ts';
import { conversationOf, directoryOf, tunnelOf } from '../objects.ts';
import type { Outcome } from '../outcome.ts';
import type { DoomedPart } from '../ports/account.ts';
import { reach } from '../reach.ts';
import { Pace } from '../storage/pace.ts';
import { SESSION_KEEPING } from './limits.ts';
import { type EndingSession, nextEnding, noteCut } from './session-statements.ts';
import {
  countPart,
  forgetPart,
  nextParts,
  readStanding,
  saveDeleted,
} from './standing-statements.ts';
import type { AccountStore } from './statements.ts';

/** What it has done is in rows: a new instance goes on where the last one stopped. */
export class Walk {
  readonly #state: DurableObjectState;
  readonly #env: Env;
  readonly #store: AccountStore;
  /** How often it has failed in a row. */
  #failures = 0;

  constructor(state: DurableObjectState, env: Env, store: AccountStore) {
    this.#state = state;
    this.#env = env;
    this.#store = store;
  }

  /** Walks to the end, or until something cannot be reached: the alarm then calls again. */
  async run(): Promise<void> {
    const { stored } = this.#store;
    if (!stored) return;
    const pace = new Pace();
    for (let next = nextEnding(stored); next; next = nextEnding(stored)) {
      const cuts: PromiseSettledResult<void>[] = [];
      for (const cut of this.#cutsOf(next)) {
        cuts.push(...(await Promise.allSettled([cut()])));
        await pace.rest();
      }
      if (this.#mustWait(cuts)) return await this.#wakeIn(SESSION_KEEPING.retryMs);
      noteCut(stored, next);
    }
    while (this.#isDeleted && (await this.#deleteNext())) await pace.rest();
  }

  get #isDeleted(): boolean {
    return ['deleting', 'deleted'].includes(this.#store.state);
  }

  get #account(): string {
    return this.#state.id.name ?? '';
  }

  #cutsOf({ session, conversations }: EndingSession): (() => Promise<void>)[] {
    const account = this.#account;
    const gone = this.#isDeleted ? 'ACCOUNT_DELETED' : 'ACCOUNT_SUSPENDED';
    const why = session === null ? gone : 'SESSION_ENDED';
    const bridges = this.#store.readBridges();
    return [
      ...bridges.map(({ id }) => async () => {
        await tunnelOf(this.#env, id).endSession(account, session, why);
      }),
      ...conversations.map((conversationId) => async () => {
        const conversation = conversationOf(this.#env, { conversationId });
        await (session === null ? conversation.halt() : conversation.endSession(session));
      }),
    ];
  }

  /** Whether something failed that another attempt may reach. What stays away is passed over. */
  #mustWait(results: readonly PromiseSettledResult<unknown>[]): boolean {
    const hasFailed = results.some(({ status }) => status === 'rejected');
    this.#failures = hasFailed ? this.#failures + 1 : 0;
    return hasFailed && this.#failures < SESSION_KEEPING.maxCutTries;
  }

  async #wakeIn(ms: number): Promise<void> {
    await this.#state.storage.setAlarm(Date.now() + ms);
  }

  /** Returns whether more is left to be deleted now. */
  async #deleteNext(): Promise<boolean> {
    await this.#wakeIn(SESSION_KEEPING.retryMs); // First, for an instance that dies in the middle.
    const { sql } = this.#state.storage;
    const parts = nextParts(sql);
    if (parts.length === 0) return await this.#bury();
    const results = await Promise.allSettled(parts.map((part) => this.#erase(part)));
    const mustWait = this.#mustWait(results);
    for (const [index, part] of parts.entries()) {
      const result = results[index];
      if (result?.status === 'fulfilled') this.#forget(part, result.value);
      else if (!mustWait) this.#giveUp(part, result?.reason);
    }
    return !mustWait;
  }

  /** Returns whether it was the account's: a bridge may be of another one that has let it in. */
  async #erase({ type, id }: DoomedPart): Promise<boolean> {
    const account = this.#account;
    if (type === 'bridge') return await tunnelOf(this.#env, id).erase(account);
    const caller = { account, conversationId: id };
    const erase = () => conversationOf(this.#env, caller).delete(caller);
    const outcome = await reach<Outcome<void>>(erase);
    if (!outcome.ok && outcome.code !== 'NOT_FOUND') throw new Error(outcome.message);
    return true;
  }

  #forget(part: DoomedPart, isOwn: boolean): void {
    const { sql } = this.#state.storage;
    const isListed = forgetPart(sql, part);
    if (isListed && isOwn) countPart(sql, `${part.type}s`);
  }

  #giveUp(part: DoomedPart, error: unknown): void {
    const { sql } = this.#state.storage;
    logEvent('delete_failed', { account: this.#account, [part.type]: part.id, error });
    forgetPart(sql, part);
    countPart(sql, 'failed');
  }

  /** Deletes what this object has, but for the row that says so. Returns whether something came meanwhile. */
  async #bury(): Promise<boolean> {
    const { storage } = this.#state;
    if (this.#store.state === 'deleting') await directoryOf(this.#env).forgetAccount(this.#account);
    if (nextParts(storage.sql).length > 0) return true;
    const { deleted, has } = readStanding(storage.sql);
    const sessions = deleted.sessions + has.sessions;
    // The whole database file goes, with its free pages and its log, and the alarm.
    const erased = storage.deleteAll();
    this.#store.makeAgain(); // Without an await, so that nothing comes between the two.
    saveDeleted(storage.sql, { ...deleted, sessions }, Date.now());
    await erased;
    return false;
  }
}
