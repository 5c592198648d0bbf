/** Messages on their way: kept until the server has them, and sent again under the same key. */
import {
  type AppClient,
  type ChatInput,
  ClientError,
  isPassing,
  type Sent,
} from '../../client/index.ts';
import type { Live } from '../live.ts';
import type { Unsent, UnsentStore } from '../session/kept.ts';

/** The key of {@link Live}. */
export const OUTBOX = 'outbox';

/** Before a request that can succeed later is sent again. */
export const RETRY_MS = 3_000;

export class Outbox {
  readonly #client: AppClient;
  readonly #live: Live;
  readonly #kept: UnsentStore | undefined;
  #isOver = false;
  /** In the order in which they were written. */
  unsent: readonly Unsent[] = [];

  /** Without `kept` a message does not outlive the page. */
  constructor(client: AppClient, live: Live, kept?: UnsentStore) {
    this.#client = client;
    this.#live = live;
    this.#kept = kept;
  }

  /** Sends what an earlier page had no answer for. */
  async resume(): Promise<void> {
    const unsent = (await this.#kept?.read()) ?? [];
    await Promise.all(unsent.map((each) => this.#deliver(each).catch(() => undefined)));
  }

  /**
   * Resolves when the server has the message, however long that takes; survives a reload. Rejects with a ClientError if
   * the server refuses it: nothing was sent then.
   */
  async send(input: ChatInput): Promise<Sent> {
    const unsent = { key: crypto.randomUUID(), input };
    await this.#kept?.add(unsent);
    return await this.#deliver(unsent);
  }

  /** For a session that is over: nothing more is sent or kept. What waits never resolves. */
  end(): void {
    this.#isOver = true;
  }

  async #deliver(unsent: Unsent): Promise<Sent> {
    this.#show([...this.unsent, unsent]);
    try {
      return await this.#insist(unsent);
    } finally {
      this.#show(this.unsent.filter(({ key }) => key !== unsent.key));
      await this.#kept?.remove(unsent.key);
    }
  }

  async #insist({ key, input }: Unsent): Promise<Sent> {
    for (;;) {
      try {
        return await this.#client.sendMessage(input, { idempotencyKey: key });
      } catch (error) {
        if (this.#isOver) await new Promise(() => {});
        if (!(error instanceof ClientError) || !isPassing(error)) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (this.#isOver) await new Promise(() => {});
    }
  }

  #show(unsent: readonly Unsent[]): void {
    this.unsent = unsent;
    this.#live.touch(OUTBOX);
  }
}
