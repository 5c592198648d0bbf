/** What other devices do in a schedule, each at its moment: send, send again, cancel. */
import type { Cancelled } from '../../../../shared/api/answers.ts';
import type { Moment } from './moments.ts';
import type { PlannedDuplicate, PlannedMessage } from './plan.ts';
import type { Accepted, Sender } from './sender.ts';
import type { Stage } from './stage.ts';

export class Actions {
  /** The answer to each cancel, by response. */
  readonly cancels: Cancelled[] = [];
  readonly #stage: Stage;
  readonly #sender: Sender;
  readonly #follow: (accepted: Accepted) => Promise<void>;

  /** `follow` reads a response to its end. */
  constructor(stage: Stage, sender: Sender, follow: (accepted: Accepted) => Promise<void>) {
    this.#stage = stage;
    this.#sender = sender;
    this.#follow = follow;
  }

  /** Resolves when the answer was read to its end. */
  async sendLate({ message, moment, delivery, crashes }: PlannedMessage): Promise<void> {
    await this.#stage.moments.until(moment);
    const known = new Set(this.#sender.responseIds);
    this.#stage.count(delivery === 'reject' ? 'sent or rejected' : `sent to ${delivery}`);
    const accepted = await this.#sendInto(crashes, () => this.#sender.send(message, delivery));
    if (!accepted) return this.#stage.count('rejected');
    if (known.has(accepted.responseId)) this.#stage.count('steered');
    await this.#follow(accepted);
  }

  async sendAgain({ moment, crashes, follows }: PlannedDuplicate): Promise<void> {
    await this.#stage.moments.until(moment);
    this.#stage.count('duplicates');
    const known = new Set(this.#sender.responseIds);
    const accepted = await this.#sendInto(crashes, () => this.#sender.repeat());
    // What was rejected the first time may be accepted now, and then no one else follows it.
    if (accepted && (follows || !known.has(accepted.responseId))) await this.#follow(accepted);
    else await accepted?.stream.body?.cancel();
  }

  async cancel(moment: Moment): Promise<void> {
    const { moments, random, device } = this.#stage;
    await moments.until(moment);
    const responseId = random.pick(this.#sender.responseIds);
    const path = `chat/completions/${responseId}/cancel`;
    const cancelled = await device.read<Cancelled>(path, { body: {} });
    this.cancels.push(cancelled);
    this.#stage.count(cancelled.status === 'cancelled' ? 'cancels in time' : 'cancels too late');
  }

  /** Sends, and at about the same time takes the object away that is to accept it. */
  async #sendInto<Answer>(crashes: boolean, send: () => Promise<Answer>): Promise<Answer> {
    const sent = send();
    if (crashes) await this.#stage.crashes.make('while_sending');
    return await sent;
  }
}
