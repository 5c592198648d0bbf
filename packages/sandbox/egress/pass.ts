/** The right of one command to reach hosts, for as long as it runs. */
import { randomBytes } from 'node:crypto';
import { type HostPort, hostText } from '../../../shared/text/hosts.ts';
import { EGRESS_LIMITS } from './limits.ts';

/** What a command was granted. */
export interface HostGrant {
  readonly conversationId: string;
  /** Patterns of hosts: `host`, `host:port`, `*.example.com`. */
  readonly hosts: readonly string[];
}

/** A host that stayed closed. */
export interface RefusedHost {
  readonly times: number;
  /** One sentence on what to do. */
  readonly reason: string;
}

/** Ends with its command. */
export class Pass implements Disposable {
  /** Nothing but the command's environment has it. */
  readonly token: string = randomBytes(24).toString('base64url');
  readonly grant: HostGrant;
  readonly #ending = new AbortController();
  readonly #refused = new Map<string, RefusedHost>();

  constructor(grant: HostGrant) {
    this.grant = grant;
  }

  /** Aborts when the command exits: its connections end with it. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** The hosts that the command asked for and did not reach; only the first ones. */
  get refused(): ReadonlyMap<string, RefusedHost> {
    return this.#refused;
  }

  noteRefused(target: HostPort, reason: string): void {
    const name = hostText(target);
    const times = (this.#refused.get(name)?.times ?? 0) + 1;
    if (times > 1 || this.#refused.size < EGRESS_LIMITS.maxRefused)
      this.#refused.set(name, { times, reason });
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }
}
