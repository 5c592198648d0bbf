/** The person of a schedule: answers what is asked, once, after what was to happen before. */

import { newDeviceId } from '../../../../shared/ids.ts';
import type { ChatResponse } from '../../../../shared/wire/documents.ts';
import type { StreamEvent } from '../../../../shared/wire/events.ts';
import type { CrashPoint } from './points.ts';
import type { Stage } from './stage.ts';

type Asked = Pick<Extract<StreamEvent, { type: 'approval_request' }>, 'callId' | 'nonce'>;

export class Person {
  readonly #stage: Stage;
  readonly #answered = new Set<string>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Looks at what a follower was sent; `responseId` is the response that its documents belong to. */
  see(event: StreamEvent, responseId: string): void {
    if (event.type === 'clarification_request') this.#choose(responseId, event.documentId);
    if (event.type === 'approval_request') this.#allow(event);
    if (event.type !== 'snapshot') return;
    const { snapshot } = event;
    const shown =
      snapshot.scope === 'response' ? [snapshot.response] : snapshot.conversation.responses;
    for (const response of shown) this.#lookThrough(response);
  }

  #lookThrough({ id: responseId, documents }: ChatResponse): void {
    for (const { id, metadata } of documents) {
      if (metadata['awaiting'] === true) this.#choose(responseId, id);
      const asked = metadata['approval'] as Asked | undefined;
      if (asked) this.#allow(asked);
    }
  }

  #choose(responseId: string, documentId: string): void {
    const body = { answers: [{ questionId: 'q', optionIds: ['a'] }] };
    void this.#answerOnce(
      ...[`${responseId} ${documentId}`, `clarifications/${documentId}`],
      ...([body, 'question_waiting'] as const),
    );
  }

  #allow({ callId, nonce }: Asked): void {
    const path = `approvals/${callId}`;
    void this.#answerOnce(nonce, path, { ...YES, nonce }, 'approval_waiting');
  }

  async #answerOnce(key: string, path: string, body: object, point: CrashPoint): Promise<void> {
    if (this.#answered.has(key)) return;
    this.#answered.add(key);
    const { crashes, device, conversationId, problems } = this.#stage;
    try {
      if (this.#isPlanned(point)) await crashes.make(point);
      await crashes.evicted();
      const response = await device.insist(`conversations/${conversationId}/${path}`, { body });
      await response.text();
    } catch (error) {
      problems.push(`an answer threw ${String(error)}`);
    }
  }

  /** At most one for each of the plan's turns that wait like this. */
  #isPlanned(point: CrashPoint): boolean {
    const { plan, crashes } = this.#stage;
    const wanted = plan.messages.flat().filter(({ waitingCrash }) => waitingCrash === point).length;
    return crashes.hits.filter((hit) => hit === point).length < wanted;
  }
}

/** Whether the signature is good is for a bridge to say, and ours believes it. */
const YES = {
  decision: 'once',
  signature: { deviceId: newDeviceId(crypto.randomUUID()), value: 'c2lnbmVk' },
};
