/** The JSON answer: what a follower of the response has seen at its end. No object holds a request open for it. */
import type { ChatResponse } from '../../shared/documents.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import type { StreamEvent } from '../../shared/events.ts';
import { answerOf, foldEvent, newResponse } from '../../shared/fold.ts';
import { parseResponseId } from '../../shared/ids.ts';
import type { Env } from '../env.ts';
import { unwrap } from '../outcome.ts';
import { type Attached, attachAgain, attachFirst, type Followed, listen } from './attach.ts';

/** Waits for the response's end; a client that leaves ends the wait and nothing else. */
export async function foldAnswer(
  request: Request,
  env: Env,
  followed: Followed,
): Promise<ChatResponse> {
  let attached: Attached | null = await attachFirst(env, followed, 'json', 0, request.signal);
  while (attached?.type === 'socket') {
    const answer = new Answer();
    await listen(attached.socket, (text) => answer.see(JSON.parse(text)), request.signal);
    if (answer.isDone)
      return answer.response ? answerOf(answer.response) : await readAnswer(env, followed);
    attached = await attachAgain(env, followed, 'json', () => 0, request.signal);
  }
  throw new DrawbridgeError(
    'INTERNAL',
    'The answer could not be followed to its end. Ask for it by its id.',
  );
}

/** A response that was cancelled before it started has an end and no start. */
async function readAnswer(env: Env, { caller, responseId }: Followed): Promise<ChatResponse> {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.idFromName(caller.conversationId));
  const { ordinal } = parseResponseId(responseId ?? '');
  return unwrap<ChatResponse>(await stub.response(caller, ordinal));
}

class Answer {
  response: ChatResponse | null = null;
  isDone = false;

  see(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (event.type === 'response_start') this.response = newResponse(event.response);
      if (event.type === 'snapshot' && event.snapshot.scope === 'response') {
        this.response = event.snapshot.response;
      }
      if (this.response) foldEvent(this.response, event);
      this.isDone ||= event.type === 'done';
    }
  }
}
