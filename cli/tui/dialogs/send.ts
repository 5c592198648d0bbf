/** Sends an answer that a person has given with some work: it is not lost while the server cannot be reached. */
import { ClientError, isPassing } from '../../../client/index.ts';
import { describeError } from '../../terminal/failure-text.ts';
import type { Panel } from './panel.ts';

/** Rejects with a ClientError if the server refuses it, or if the person wants to answer anew. */
export async function sendAnswer(panel: Panel, send: () => Promise<void>): Promise<void> {
  for (;;) {
    panel.work('Sending your answer');
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ClientError) || !isPassing(error)) throw error;
      const chosen = await panel.choose({
        title: 'Your answer may not have arrived',
        body: [{ text: describeError(error) }],
        choices: [
          { label: 'Send it again', answer: 'again' },
          { label: 'Answer anew', answer: 'anew' },
        ],
        isNew: true,
      });
      if (chosen?.answer !== 'again') throw error;
    }
  }
}
