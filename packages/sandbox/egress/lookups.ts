/** Looks up names for the connections of one proxy. */
import { addAbortListener } from 'node:events';
import { newDeferred } from '../../../machine/deferred.ts';
import { EGRESS_LIMITS } from './limits.ts';
import type { Pass } from './pass.ts';
import type { FoundAddress, Resolver } from './reach.ts';

interface RunningLookup {
  readonly pass: Pass;
  readonly found: Promise<readonly FoundAddress[]>;
  /** Resolves when another lookup may begin. */
  readonly ended: Promise<void>;
}

/**
 * Runs only a few lookups at a time, each for all that ask for its name: the system looks up names in two of the few
 * threads that the whole bridge has, and no lookup can be cancelled.
 */
export class Lookups {
  readonly #lookup: Resolver['lookup'];
  readonly #running = new Map<string, RunningLookup>();

  constructor({ lookup }: Pick<Resolver, 'lookup'>) {
    this.#lookup = lookup;
  }

  /** Shares a lookup of the same name that runs, and waits its turn. Rejects, and begins none, when the signal aborts. */
  async find(host: string, pass: Pass, signal: AbortSignal): Promise<readonly FoundAddress[]> {
    const { promise: left, reject } = newDeferred<never>();
    left.catch(() => {});
    using _leaving = addAbortListener(signal, () => reject(signal.reason));
    for (;;) {
      signal.throwIfAborted();
      const running = this.#running.get(host) ?? this.#begin(host, pass);
      if (running !== undefined) return await Promise.race([running.found, left]);
      const ends = [...this.#running.values()].map(({ ended }) => ended);
      await Promise.race([...ends, left]);
    }
  }

  /** Undefined where too many run. */
  #begin(host: string, pass: Pass): RunningLookup | undefined {
    const all = [...this.#running.values()];
    const own = all.filter((one) => one.pass === pass);
    if (all.length >= EGRESS_LIMITS.maxLookups) return undefined;
    if (own.length >= EGRESS_LIMITS.maxLookupsOfCommand) return undefined;
    const found = this.#lookup(host);
    const end = () => void this.#running.delete(host);
    const running = { pass, found, ended: found.then(end, end) };
    this.#running.set(host, running);
    return running;
  }
}
