/** What makes notifications, and the kinds of them. */
import { expect, vi } from 'vitest';
import type { PushKinds } from '../../../shared/api/push.ts';
import type { ScriptedReply } from '../../far-ends/reply-script.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';

export const ALL: PushKinds = { waiting: true, ended: true, failed: true };

export const QUESTION: ScriptedReply = {
  calls: [
    {
      name: 'ask_question',
      arguments: {
        questions: [{ id: 'way', prompt: 'Which?', options: [{ id: '1', label: 'One' }] }],
      },
    },
  ],
};

/** A model that takes longer than a person watches. */
export function slowly(reply: ScriptedReply): () => ScriptedReply {
  const clock = shiftClock();
  return () => {
    clock.aheadMs += 31_000;
    return reply;
  };
}

export async function untilReceived(received: readonly unknown[], count = 1): Promise<void> {
  await vi.waitFor(() => expect(received).toHaveLength(count));
}
