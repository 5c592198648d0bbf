/** Makes the JSON answer by following the response to its end, so that no object holds a request open. */

import { DrawbridgeError, type WireError } from '../../shared/errors.ts';
import { parseResponseId } from '../../shared/ids.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { answerOf, isWaiting } from '../../shared/wire/fold.ts';
import { readDocument } from '../conversation/reading/requests.ts';
import { ResponseFold } from '../conversation/tape/response-fold.ts';
import type { Env } from '../env.ts';
import { inTime, unavailable } from '../reach.ts';
import { type Attached, attachAgain, attachFirst, listen } from './attach.ts';
import type { Begun } from './cancel-run.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** Waits for the end of the response, or until `isEnough` after some event. The signal ends the wait, not the run. */
export async function foldAnswer(
  signal: AbortSignal,
  env: Env,
  followed: Begun,
  isEnough: (fold: ResponseFold) => boolean,
): Promise<ChatResponse> {
  let attached: Attached | null = await attachFirst(env, followed, 'json', 0, signal);
  while (attached?.type === 'socket') {
    const fold = new ResponseFold();
    const enough = new AbortController();
    const silence = new Silence();
    await listen(
      attached.socket,
      (text) => {
        silence.begin();
        for (const event of JSON.parse(text) as StreamEvent[]) fold.see(event);
        if (isEnough(fold)) enough.abort();
      },
      AbortSignal.any([signal, enough.signal, silence.tooLong]),
    );
    silence.end();
    if (fold.isDone || enough.signal.aborted)
      return fold.response ? answerOf(fold.response) : await readAnswer(env, followed);
    attached = await attachAgain(env, followed, 'json', () => 0, signal);
  }
  if (attached?.type === 'response') throw await refusalOf(attached.response);
  throw notFollowed();
}

/** The error of an object that refuses a follower: the conversation was deleted meanwhile. */
export async function refusalOf(response: Response): Promise<DrawbridgeError> {
  if (response.ok) return notFollowed();
  const { error } = await inTime(response.json<WireError>());
  return new DrawbridgeError(error.code, error.message);
}

function notFollowed(): DrawbridgeError {
  return unavailable('The answer could not be followed to its end. Ask for it by its id.');
}

/** Reads the whole response. A response that was cancelled before it started has no start event to fold. */
async function readAnswer(env: Env, { caller, responseId }: Begun): Promise<ChatResponse> {
  const { ordinal } = parseResponseId(responseId);
  const whole = await inTime(readDocument(env, caller, { type: 'response', ordinal }));
  if (!whole.ok) throw await refusalOf(whole);
  return await inTime(whole.json<ChatResponse>());
}

/** Whether the run only waits for a person, or for the app: every open document is a question. */
export function onlyWaits({ response, openDocuments }: ResponseFold): boolean {
  if (response?.status !== 'waiting') return false;
  return response.documents.every(
    (document) => !openDocuments.has(document.id) || isWaiting(document),
  );
}

/** Measures the time since it began last. */
class Silence {
  readonly #over = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.begin();
  }

  /** Aborts after FOLLOW_LIMITS.silentMs. */
  get tooLong(): AbortSignal {
    return this.#over.signal;
  }

  begin(): void {
    this.end();
    this.#timer = setTimeout(() => this.#over.abort(), FOLLOW_LIMITS.silentMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
