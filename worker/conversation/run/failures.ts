/** The failures that end a run or a call early, with their texts for the person or the model. Pure. */

import {
  CONTEXT_LENGTH_EXCEEDED,
  isContextOverflow,
  type UpstreamReply,
} from '../../../packages/model/index.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { failure } from '../../../shared/wire/tunnel.ts';
import { storageFault } from '../../reach.ts';
import { type ErrorReport, UNREADABLE } from '../tape/error-document.ts';

/** Why a reply is not a valid answer; null for a valid one. */
export function failureOf(reply: UpstreamReply): ErrorReport | null {
  const source = 'upstream';
  switch (reply.outcome) {
    case 'completed':
      return reply.text === '' && reply.calls.length === 0
        ? {
            code: 'EMPTY_ANSWER',
            source,
            message: 'The model answered nothing.',
            ...reasonGiven(reply),
          }
        : null;
    case 'truncated':
      if (hasNoRoom(reply)) return { code: CONTEXT_LENGTH_EXCEEDED, source, message: NO_ROOM };
      return {
        code: 'ANSWER_TRUNCATED',
        source,
        message: 'The model reached its token limit. Any tool calls in this answer were not run.',
        ...reasonGiven(reply),
      };
    case 'filtered':
      return {
        code: 'CONTENT_FILTERED',
        source,
        message: "The model server's content filter cut the answer.",
        ...reasonGiven(reply),
      };
    case 'interrupted':
      return {
        code: 'UPSTREAM_INTERRUPTED',
        source,
        message: 'The answer broke off before its end.',
      };
    case 'error':
      return { source, ...refusalOf(reply.error) };
    default:
      return reply.outcome satisfies never;
  }
}

function refusalOf(error: UpstreamReply['error']): Omit<ErrorReport, 'source'> {
  const details = error && { details: error.message };
  switch (error?.code) {
    case 'MODEL_WITHOUT_TOOLS':
      return {
        code: error.code,
        message: 'This model cannot call tools, and the agent works with tools. Choose another.',
        ...details,
      };
    case 'SETTING_REFUSED':
      return {
        code: error.code,
        message: `The model server refuses this value of ${error.param}.`,
        details: `${error.param}: ${error.message}`,
      };
    default: {
      const code =
        error?.code === CONTEXT_LENGTH_EXCEEDED ? CONTEXT_LENGTH_EXCEEDED : 'UPSTREAM_ERROR';
      return { code, message: 'The model server reported an error.', ...details };
    }
  }
}

function reasonGiven({ finishReason }: UpstreamReply): Pick<ErrorReport, 'details'> {
  return finishReason === null
    ? {}
    : { details: `The model server gave the reason ${JSON.stringify(finishReason)}.` };
}

/** Z.ai refuses no prompt: to a prompt that leaves no room it sends an empty answer with this finish reason. */
function hasNoRoom({ finishReason, text, calls }: UpstreamReply): boolean {
  return text === '' && calls.length === 0 && isContextOverflow([finishReason], '');
}

const NO_ROOM = "The conversation leaves no room for an answer in the model's window.";

/** The report of an exception. Only an expected exception (a DrawbridgeError) shows its own message. */
export function reportOf(thrown: unknown): ErrorReport {
  const expected = storageFault(thrown) ?? thrown;
  if (!(expected instanceof DrawbridgeError)) return INTERNAL;
  const { code, message } = expected;
  return { code, source: 'drawbridge', message };
}

/** For an unexpected exception, whose text must not leave the process. */
const INTERNAL: ErrorReport = {
  code: 'INTERNAL',
  source: 'drawbridge',
  message: 'Something went wrong on our side. The message can be sent again.',
};

/** The result of the calls of a cancelled run. */
export const CANCELLED = failure('CANCELLED', 'Cancelled by the user.');

/** The result of the calls of an answer that failed. */
export const NOT_RUN = failure('NOT_RUN', 'Not run: the answer failed.');

/** For a run whose stored rows are damaged. */
export const DAMAGED: ErrorReport = {
  code: UNREADABLE,
  source: 'drawbridge',
  message:
    'A part of this answer is damaged in storage and cannot be read any more, so it ends here. Send the message again.',
};

/** For a run whose request says that it stops then. */
export const QUESTIONS_UNANSWERED: ErrorReport = {
  code: 'QUESTIONS_UNANSWERED',
  source: 'drawbridge',
  message: 'Stopped: no one answered the questions in time. Send another message to go on.',
};

export const RECOVERY_EXHAUSTED: ErrorReport = {
  code: 'RECOVERY_EXHAUSTED',
  source: 'drawbridge',
  message: 'The answer was interrupted too often. Send the message again.',
};
