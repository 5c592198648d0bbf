/** The end of a run as clients see it that know only text. */
import type { ChatResponse } from '../../shared/wire/documents.ts';

/** The end of a run. `finished`: with an answer, whole or cut short. `failed`: without one. */
export type Ending =
  | { readonly type: 'finished'; readonly reason: FinishReason }
  | { readonly type: 'failed'; readonly failure: Failure };

/** OpenAI's finish reasons. `tool_calls`: the answer goes on with the results of the app's own tools. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls';

export interface Failure {
  /** The HTTP status to use if nothing was sent before it. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The path of the wrong field, for example `messages[3].content`. */
  readonly param?: string | undefined;
}

/** The ending of a response that is over, or waits for the app. `response` is null if it was cancelled before it started. */
export function endingOf(response: ChatResponse | null): Ending {
  if (response?.status === 'completed') return { type: 'finished', reason: 'stop' };
  if (response?.status === 'waiting') return { type: 'finished', reason: 'tool_calls' };
  if (response?.status !== 'error') return { type: 'failed', failure: CANCELLED };
  const error = response.documents.findLast(({ type }) => type === 'error');
  const code = String(error?.metadata['errorCode'] ?? 'INTERNAL');
  const reason = CUT_SHORT[code];
  if (reason) return { type: 'finished', reason };
  const message = String(error?.metadata['details'] || error?.content || UNSAID);
  const failure = failureOfRun(code, message);
  const hasCalled = response.metadata.toolCallCount > 0;
  return { type: 'failed', failure: hasCalled ? final(failure) : failure };
}

const UNSAID = 'The run failed.';

const CANCELLED: Failure = {
  status: 410,
  code: 'cancelled',
  message: 'The answer was cancelled.',
};

/** Errors after which the text so far counts as an answer. */
const CUT_SHORT: Readonly<Record<string, FinishReason>> = {
  ANSWER_TRUNCATED: 'length',
  TURN_LIMIT: 'length',
  BUDGET_EXCEEDED: 'length',
  CONTENT_FILTERED: 'content_filter',
};

function failureOfRun(errorCode: string, message: string): Failure {
  const failure = { code: errorCode.toLowerCase(), message };
  switch (errorCode) {
    case 'CONTEXT_LENGTH_EXCEEDED':
      return { ...failure, status: 400, param: 'messages' };
    case 'MODEL_WITHOUT_TOOLS':
      return { ...failure, status: 400, param: 'model' };
    case 'SETTING_REFUSED':
      return { ...failure, status: 400, param: message.split(':')[0] };
    case 'UPSTREAM_ERROR':
    case 'UPSTREAM_INTERRUPTED':
    case 'EMPTY_ANSWER':
    case 'OUTPUT_INVALID':
      return { ...failure, status: 502 };
    default:
      return { ...failure, status: 500 };
  }
}

/** Replaces a 5xx by 424. Clients repeat a request after a 5xx by themselves, and its tools must not run twice. */
function final(failure: Failure): Failure {
  return failure.status < 500 ? failure : { ...failure, status: 424 };
}

/** The ending if a crash took back text that the client has read. These protocols cannot take text back. */
export const TAKEN_BACK: Ending = {
  type: 'failed',
  failure: {
    status: 500,
    code: 'answer_interrupted',
    message: 'The answer was interrupted, and went on differently from what was sent. Ask again.',
  },
};

/** The ending if the run's end was not seen. Its tools may have run. */
export const LOST: Extract<Ending, { type: 'failed' }> = {
  type: 'failed',
  failure: {
    status: 424,
    code: 'answer_lost',
    message: 'The answer could not be followed to its end. Ask again.',
  },
};
