/** Sends the messages of a schedule, each with a key, so that it can be said again; what was accepted stays accepted. */
import type { Delivery } from '../../../../shared/api/requests.ts';
import { contentOf } from './model.ts';
import type { Stage } from './stage.ts';

export interface Accepted {
  readonly responseId: string;
  /** The response from its start. */
  readonly stream: Response;
}

export class Sender {
  readonly #stage: Stage;
  readonly #bodies = new Map<number, object>();
  /** The response that each accepted message belongs to, by the message's number. */
  readonly accepted = new Map<number, string>();
  /** Accepted messages that were to end what was running. */
  readonly interrupting = new Set<number>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get responseIds(): string[] {
    return [...new Set(this.accepted.values())];
  }

  get needsBridge(): boolean {
    return this.#stage.plan.messages.flat().some(({ calls }) => calls.length > 0);
  }

  /** Null when it is refused because the conversation is busy. The first message of all makes the conversation. */
  async send(message: number, delivery: Delivery): Promise<Accepted | null> {
    const { conversationId, bridgeId, plan } = this.#stage;
    this.#bodies.set(message, {
      ...messageBody(plan.seed, message),
      delivery,
      // The run that it may steer keeps its own.
      ...(delivery === 'steer' && { include: undefined }),
      ...(conversationId !== '' && { conversationId }),
      ...(this.needsBridge && { bridgeId }),
    });
    if (delivery === 'interrupt') this.interrupting.add(message);
    return await this.#post(message, delivery === 'reject');
  }

  /** Sends one of the messages again that were sent so far, also where the first try is still under way. */
  async repeat(): Promise<Accepted | null> {
    const { random, plan } = this.#stage;
    const message = random.pick([...this.#bodies.keys()]);
    const { delivery } = plan.late.find((late) => late.message === message) ?? {};
    return await this.#post(message, delivery === 'reject' && !this.accepted.has(message));
  }

  async #post(message: number, mayBeRefused: boolean): Promise<Accepted | null> {
    const { device, bridgeId } = this.#stage;
    const stream = await device.insist('chat/completions', {
      body: this.#bodies.get(message),
      idempotencyKey: `key-${message}-${bridgeId}`,
    });
    if (stream.status === 409 && mayBeRefused) {
      await stream.text();
      return null;
    }
    if (stream.status !== 200) throw new Error(`${stream.status}: ${await stream.text()}`);
    this.#stage.conversationId = stream.headers.get('drawbridge-conversation-id') ?? '';
    const responseId = stream.headers.get('drawbridge-response-id') ?? '';
    const before = this.accepted.get(message) ?? responseId;
    if (before !== responseId)
      this.#stage.problem(`message ${message} led to ${before}, then to ${responseId}`);
    this.accepted.set(message, before);
    return { responseId, stream };
  }
}

/** What every message of a schedule says, wherever it is sent. */
export function messageBody(seed: number, message: number): object {
  return {
    messages: [{ role: 'user', content: contentOf(seed, message) }],
    stream: true,
    include: ['reasoning'],
  };
}
