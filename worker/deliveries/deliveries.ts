/** The deliveries of one agent: each event is sent until its receiver has taken it, or for days. */
import type { WebhookDelivery, WebhookEvent } from '../../shared/api/agents.ts';
import { SECOND } from '../../shared/units.ts';
import type { DeliveryRow, DeliveryStore } from './delivery-statements.ts';
import { DELIVERY_LIMITS } from './limits.ts';
import {
  type ReceiverAnswer,
  type SendEnv,
  send,
  verdictOf,
  type WebhookTarget,
  waitMs,
} from './send.ts';

export interface DeliveriesDeps {
  readonly agentId: string;
  readonly target: WebhookTarget;
  readonly store: DeliveryStore;
  readonly env: SendEnv;
  /** Called when the receiver wants nothing more. */
  readonly onGone: () => void;
  /** Sets the alarm for {@link Deliveries.nextMs}. */
  readonly arm: () => Promise<void>;
}

/** Stores each event before its first attempt: it arrives at least once. {@link start} does not wait for that. */
export class Deliveries {
  readonly #deps: DeliveriesDeps;
  /** Those that are neither delivered nor given up, by their number. */
  readonly #pending: Map<number, DeliveryRow>;
  /** The numbers of those whose attempt is under way. */
  readonly #flying = new Set<number>();
  #newest: number;
  #isStopped = false;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
    const rows = deps.store.readAll();
    this.#newest = rows[0]?.number ?? 0;
    const pending = rows.filter(({ state }) => state === 'pending');
    this.#pending = new Map(pending.reverse().map((row) => [row.number, row]));
  }

  /** When the object must be awake for the next attempt, or for the end of one; null without any. */
  get nextMs(): number | null {
    const times = [...this.#pending.values()].map(({ number, nextMs }) =>
      this.#flying.has(number) ? Date.now() + 2 * DELIVERY_LIMITS.attemptMs : nextMs,
    );
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Stores an event and starts its first attempt. */
  add(event: WebhookEvent): void {
    const { store } = this.#deps;
    const number = ++this.#newest;
    const row = { ...NEW, number, nextMs: Date.now(), body: JSON.stringify(event) };
    store.insert(row);
    this.#pending.set(number, row);
    const oldest = number - DELIVERY_LIMITS.maxKept;
    if (oldest > 0) store.forget(oldest);
    this.#pending.delete(oldest);
    this.start();
  }

  /** Starts the attempts that are due, as far as there is room. */
  start(): void {
    const nowMs = Date.now();
    for (const row of this.#pending.values()) {
      if (this.#flying.size >= DELIVERY_LIMITS.maxAtOnce) break;
      if (row.nextMs <= nowMs && !this.#flying.has(row.number)) void this.#attempt(row);
    }
    void this.#deps.arm().catch(() => undefined); // The object is being reset, and wakes with its alarm.
  }

  /** Stores nothing from now on, and starts no attempt. */
  stop(): void {
    this.#isStopped = true;
    this.#pending.clear();
  }

  /** The newest first. */
  list(): WebhookDelivery[] {
    return this.#deps.store.readAll().map((row) => {
      const { state, attempts, nextMs, body, answer } = row;
      const { type, timestamp } = JSON.parse(body) as WebhookEvent;
      return {
        id: this.#idOf(row),
        type,
        timestamp,
        state,
        attempts,
        ...(answer !== null && { answer }),
        ...(state === 'pending' && { next: new Date(nextMs).toISOString() }),
      };
    });
  }

  async #attempt(row: DeliveryRow): Promise<void> {
    const { env, target } = this.#deps;
    this.#flying.add(row.number);
    const seconds = Math.floor(Date.now() / SECOND);
    const message = { id: this.#idOf(row), seconds, body: row.body };
    const answered = await send(env, target, message);
    this.#flying.delete(row.number);
    if (!this.#pending.has(row.number) || this.#isStopped) return;
    this.#settle(row, answered);
    this.start();
  }

  #settle(row: DeliveryRow, answered: ReceiverAnswer): void {
    const attempts = row.attempts + 1;
    const answer = answered.error ?? String(answered.status);
    const verdict = verdictOf(answered);
    const wait = verdict === 'again' ? waitMs(attempts, answered, Math.random()) : null;
    const ended = verdict === 'delivered' ? 'delivered' : 'dead';
    const state = wait === null ? ended : 'pending';
    const nextMs = Date.now() + (wait ?? 0);
    this.#save({ ...row, attempts, answer, state, nextMs });
    if (verdict === 'gone') this.#giveUp();
  }

  #save(row: DeliveryRow): void {
    this.#deps.store.update(row);
    if (row.state === 'pending') this.#pending.set(row.number, row);
    else this.#pending.delete(row.number);
  }

  #giveUp(): void {
    for (const row of [...this.#pending.values()]) this.#save({ ...row, state: 'dead' });
    this.#deps.onGone();
  }

  /** The same in every attempt: the receiver knows repeats. A restore can repeat the number, with another time. */
  #idOf({ number, body }: Pick<DeliveryRow, 'number' | 'body'>): string {
    const { timestamp } = JSON.parse(body) as WebhookEvent;
    return `msg_${this.#deps.agentId.slice('conv_'.length)}_${number}_${Date.parse(timestamp)}`;
  }
}

const NEW = { state: 'pending', attempts: 0, answer: null } as const;
