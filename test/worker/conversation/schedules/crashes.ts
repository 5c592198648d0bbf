/** Takes objects away: reset in the middle of whatever they do, or evicted once they do nothing. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { tunnelOf } from '../../tunnel/scripted-bridge.ts';
import { conversationObject } from '../conversing.ts';
import type { CrashPoint } from './points.ts';
import type { Stage } from './stage.ts';

/** Where the object does nothing: the runtime evicts no other, and waits for one that is running. */
const IDLE: ReadonlySet<CrashPoint> = new Set([
  ...(['calls_out', 'approval_waiting', 'question_waiting', 'at_rest'] as const),
]);
/** A turn is stored and sent within about so many looks of its last byte; so is a message. */
const RACE_LOOKS = 4;
const RACING: ReadonlySet<CrashPoint> = new Set(['at_the_end', 'while_sending']);
/** What led to a point ends within so many looks; an eviction that met it would wait for half a minute. */
const QUIET_LOOKS = 5;

export class Crashes {
  /** Those that were made, in their order. */
  readonly hits: CrashPoint[] = [];
  readonly #stage: Stage;
  readonly #underWay: Promise<void>[] = [];
  readonly #evictions: Promise<void>[] = [];
  #racing: { looks: number; readonly come: () => void }[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Resolves when the object is gone; for `fork_copy`, `conversationId` is the new conversation. */
  async make(point: CrashPoint, conversationId = this.#stage.conversationId): Promise<void> {
    this.hits.push(point);
    this.#stage.moments.pass('crash');
    const crash = this.#stage.watch(point, this.#takeAway(point, conversationId));
    this.#underWay.push(crash);
    await crash;
  }

  /** To be called every few milliseconds: a timer of its own for each crash would come late in a test as busy as this. */
  look(): void {
    for (const racing of this.#racing) if (--racing.looks <= 0) racing.come();
    this.#racing = this.#racing.filter(({ looks }) => looks > 0);
  }

  /** What is checked must not be taken away meanwhile. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** A request that met an eviction would keep the object running, and each would wait for the other. */
  async evicted(): Promise<void> {
    await Promise.all(this.#evictions);
  }

  async #takeAway(point: CrashPoint, conversationId: string): Promise<void> {
    const { random, bridgeId } = this.#stage;
    if (RACING.has(point)) await this.#looks(random.below(RACE_LOOKS));
    const stub = point === 'tunnel_lost' ? tunnelOf(bridgeId) : conversationObject(conversationId);
    if (this.#isIdle(point) && random.chance(0.6)) {
      this.#stage.count('evictions');
      const eviction = this.#evict(stub);
      this.#evictions.push(eviction);
      return await eviction;
    }
    this.#stage.count('resets');
    await runInDurableObject(stub, (_, state) => state.abort()).catch(() => undefined);
  }

  async #evict(stub: DurableObjectStub): Promise<void> {
    await this.#looks(QUIET_LOOKS);
    // Rejects where it is not running: then it is away already.
    await evictDurableObject(stub).catch(() => undefined);
  }

  #looks(looks: number): Promise<void> {
    if (looks === 0) return Promise.resolve();
    return new Promise((come) => this.#racing.push({ looks, come }));
  }

  /** Where others may wake it meanwhile, the runtime would wait for what they start, and that for the next crash. */
  #isIdle(point: CrashPoint): boolean {
    const { late, cancels, duplicates, forks } = this.#stage.plan;
    const others = [...late, ...cancels, ...duplicates, ...forks];
    return IDLE.has(point) && (point === 'at_rest' || others.length === 0);
  }
}
