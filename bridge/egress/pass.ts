/** The right of one command to reach hosts, for as long as it runs. */
import { randomBytes } from 'node:crypto';
import { type HostPort, hostText } from '../../shared/text/hosts.ts';
import { EGRESS_LIMITS } from './limits.ts';

/** What a command was granted. */
export interface Grant {
  readonly conversationId: string;
  /** Patterns of hosts: `host`, `host:port`, `*.example.com`. */
  readonly hosts: readonly string[];
}

/** Ends with its command. */
export class Pass implements Disposable {
  /** Nothing but the command's environment has it. */
  readonly token: string = randomBytes(24).toString('base64url');
  readonly grant: Grant;
  readonly #ending = new AbortController();
  readonly #refused = new Map<string, number>();

  constructor(grant: Grant) {
    this.grant = grant;
  }

  /** Aborts when the command has ended: so do its connections. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** The hosts that the command asked for and did not reach, with how often; only the first ones. */
  get refused(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  noteRefused(target: HostPort): void {
    const name = hostText(target);
    const count = this.#refused.get(name) ?? 0;
    if (count > 0 || this.#refused.size < EGRESS_LIMITS.maxRefused)
      this.#refused.set(name, count + 1);
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }
}
