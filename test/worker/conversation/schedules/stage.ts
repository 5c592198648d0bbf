/** What the parts of one schedule share. */
import { Random } from '../../../../bench/fuzz/random.ts';
import { newBridgeId } from '../../../../shared/ids.ts';
import { Crashes } from './crashes.ts';
import { Device } from './device.ts';
import type { Scripted } from './model.ts';
import { Moments } from './moments.ts';
import type { Plan } from './plan.ts';
import type { Ingredient } from './points.ts';

/** Several schedules share each. */
export const ACCOUNTS = Array.from({ length: 20 }, (_, number) => `account-${number}`);

export class Stage {
  readonly scripted: Scripted;
  readonly device: Device;
  readonly bridgeId = newBridgeId(crypto.randomUUID());
  readonly moments = new Moments();
  readonly crashes: Crashes;
  readonly random: Random;
  readonly problems: string[] = [];
  readonly counted: Ingredient[] = [];
  readonly #underWay = new Map<Promise<void>, string>();
  /** Empty until the first message was accepted. */
  conversationId = '';

  constructor(scripted: Scripted) {
    const { seed } = scripted.plan;
    this.scripted = scripted;
    this.device = new Device(ACCOUNTS[seed % ACCOUNTS.length] ?? '');
    this.random = new Random(seed ^ 0x5eed);
    this.crashes = new Crashes(this);
  }

  get plan(): Plan {
    return this.scripted.plan;
  }

  /** Keeps the name for as long as it is under way. */
  watch(name: string, work: Promise<void>): Promise<void> {
    const watched = work.finally(() => this.#underWay.delete(watched));
    this.#underWay.set(watched, name);
    return watched;
  }

  /** What a schedule waits for that does not end. */
  get underWay(): string {
    return [...this.#underWay.values()].join(', ');
  }

  count(ingredient: Ingredient): void {
    this.counted.push(ingredient);
  }

  problem(text: string): void {
    this.problems.push(text);
  }
}
