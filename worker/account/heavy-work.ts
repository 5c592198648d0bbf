/** Heavy work, one piece of an account at a time: a server of one's own has one thread for all accounts. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { SECOND } from '../../shared/units.ts';
import { HEAVY_LIMITS, RATE_LIMITS } from './limits.ts';

/** A piece of work that waits for its turn, or has it. */
export interface HeavyTurn {
  readonly account: string;
  /** When its request was last seen alive. */
  seenMs: number;
  /** When it came; until then, when it joined. */
  sinceMs: number;
}

/**
 * The turns of all accounts, in this isolate's memory. The clock is passed in. The request of a client that leaves ends
 * in the middle, and says nothing: a turn that was not seen for HEAVY_LIMITS.goneMs is over.
 */
export class HeavyTurns {
  readonly #lines = new Map<string, HeavyLine>();

  /** Null where too many wait. */
  join(account: string, nowMs: number): HeavyTurn | null {
    const { waiting, restUntilMs } = this.#lineOf(account, nowMs);
    if (waiting.length > HEAVY_LIMITS.maxWaiting) return null;
    const turn = { account, seenMs: nowMs, sinceMs: nowMs };
    this.#save(account, { waiting: [...waiting, turn], restUntilMs });
    return turn;
  }

  /** How many turns come before this one: it has come with 0. To be called again and again until it has. */
  ahead(turn: HeavyTurn, nowMs: number): number {
    turn.seenMs = nowMs;
    const { waiting, restUntilMs } = this.#lineOf(turn.account, nowMs);
    const place = waiting.indexOf(turn);
    if (place >= 0) return place;
    // The thread stood still for so long that the request seemed gone.
    this.#save(turn.account, { waiting: [...waiting, turn], restUntilMs });
    return waiting.length;
  }

  /** How long a turn that has come rests first, since the account's last one. */
  restMs({ account }: HeavyTurn, nowMs: number): number {
    return Math.max(0, this.#lineOf(account, nowMs).restUntilMs - nowMs);
  }

  leave(turn: HeavyTurn, nowMs: number): void {
    const { waiting } = this.#lineOf(turn.account, nowMs);
    const left = waiting.filter((other) => other !== turn);
    const tookMs = nowMs - turn.sinceMs;
    const restMs = Math.min(HEAVY_LIMITS.maxRestMs, Math.max(HEAVY_LIMITS.restMs, tookMs));
    this.#save(turn.account, { waiting: left, restUntilMs: nowMs + restMs });
  }

  #lineOf(account: string, nowMs: number): HeavyLine {
    const { waiting = [], restUntilMs = 0 } = this.#lines.get(account) ?? {};
    return {
      waiting: waiting.filter(({ seenMs }) => Math.abs(nowMs - seenMs) < HEAVY_LIMITS.goneMs),
      restUntilMs: Math.min(restUntilMs, nowMs + HEAVY_LIMITS.maxRestMs), // The clock may have been set back.
    };
  }

  /** Forgets the account that was least recently busy first. */
  #save(account: string, line: HeavyLine): void {
    this.#lines.delete(account);
    this.#lines.set(account, line);
    const [oldest] = this.#lines.keys();
    if (oldest !== undefined && this.#lines.size > RATE_LIMITS.maxBuckets)
      this.#lines.delete(oldest);
  }
}

interface HeavyLine {
  /** The first one has its turn. */
  readonly waiting: readonly HeavyTurn[];
  readonly restUntilMs: number;
}

const turns = new HeavyTurns();

/**
 * Waits until the account's other heavy work is done. The turn ends when it is disposed of.
 * @throws {DrawbridgeError} RATE_LIMITED where too many requests wait. @throws the reason of `left`
 */
export async function turnOf(account: string, left?: AbortSignal): Promise<Disposable> {
  const turn = turns.join(account, Date.now());
  if (!turn) throw tooMany();
  try {
    for (let ahead = turns.ahead(turn, Date.now()); ahead > 0; ) {
      await scheduler.wait(ahead === 1 ? HEAVY_LIMITS.pollMs : HEAVY_LIMITS.beatMs);
      left?.throwIfAborted();
      ahead = turns.ahead(turn, Date.now());
    }
    const restMs = turns.restMs(turn, Date.now());
    if (restMs > 0) await scheduler.wait(restMs);
    turn.sinceMs = Date.now();
  } catch (error) {
    turns.leave(turn, Date.now());
    throw error;
  }
  const beat = setInterval(() => {
    turn.seenMs = Date.now();
  }, HEAVY_LIMITS.beatMs);
  return {
    [Symbol.dispose]: () => {
      clearInterval(beat);
      turns.leave(turn, Date.now());
    },
  };
}

async function inTurn<Result>(account: string, work: () => Promise<Result>): Promise<Result> {
  using _ = await turnOf(account);
  return await work();
}

/** The same texts. Each is made in a turn of its own, so that other work of the account comes in between. */
export async function* inTurns(
  account: string,
  texts: AsyncGenerator<string>,
): AsyncGenerator<string> {
  try {
    for (;;) {
      const { value, done } = await inTurn(account, () => texts.next());
      if (done) return;
      yield value; // Without a turn: the client may never read on.
    }
  } finally {
    await texts.return(undefined);
  }
}

function tooMany(): DrawbridgeError {
  const retryAfterSeconds = HEAVY_LIMITS.retryAfterMs / SECOND;
  return new DrawbridgeError(
    'RATE_LIMITED',
    `Too much heavy work of this account waits (lists, exports, forks, deletions, large messages). Try again in ${retryAfterSeconds} s.`,
    { details: { retryAfterSeconds } },
  );
}
