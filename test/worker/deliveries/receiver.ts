/** A receiver of webhooks behind the Worker's `fetch`, beside a model that says one thing. */
import { vi } from 'vitest';
import type { WebhookEvent } from '../../../shared/api/agents.ts';
import { framesOf, streamOf } from '../../far-ends/reply-script.ts';

export const HOOK = 'https://hooks.test/agent?key=1';

export interface Received {
  readonly headers: Headers;
  readonly body: string;
  readonly event: WebhookEvent;
  readonly redirect: string;
}

/** `answer` gets the number of the attempt, counted from 0. `said` is the model's only answer, where it is not at once. */
export function receive(
  answer: (attempt: number) => Response | Promise<Response>,
  said?: Promise<Response>,
): Received[] {
  const received: Received[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url !== HOOK) return (await said) ?? streamOf(framesOf({ text: 'Done.' }));
    const body = await request.text();
    const { headers, redirect } = request;
    received.push({ headers, body, event: JSON.parse(body), redirect });
    return await answer(received.length - 1);
  });
  return received;
}
