/** Questions that the model asks the user. One answer from any device counts. */
import * as z from 'zod';
import type { ClarificationAnswer } from '../../../shared/api/requests.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { type Answer, type ChatResponse, Question } from '../../../shared/wire/documents.ts';
import { findDocument, isUnanswered } from '../../../shared/wire/fold.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Call } from '../store/rows.ts';

/** The questions of a document; null when it does not wait for an answer. */
export function openQuestions(
  response: ChatResponse | null,
  documentId: string,
): readonly Question[] | null {
  const document = response && findDocument(response, documentId);
  if (!document || !isUnanswered(document.metadata)) return null;
  return z.array(Question).safeParse(document.metadata['questions']).data ?? null;
}

/** Where the answer goes and which response it belongs to. */
interface AnswerTarget {
  readonly log: RunLog;
  readonly calls: {
    answer(call: Call, questions: readonly Question[], answers: readonly Answer[]): void;
  };
  /** The current response, or the last one. */
  readonly response: ChatResponse | null;
}

/** Settles the call with the first answer, and the run goes on. */
export function answerClarification(
  { log, calls, response }: AnswerTarget,
  documentId: string,
  { responseId, answers }: ClarificationAnswer,
): void {
  if (responseId !== undefined && responseId !== response?.id) throw alreadyAnswered();
  const questions = openQuestions(response, documentId);
  const asked = log.pending.find(({ call }) => call.documentId === documentId);
  if (questions && asked) return calls.answer(asked.call, questions, answers);
  const document = response && findDocument(response, documentId);
  if (document?.type === 'clarification') throw alreadyAnswered();
  throw new DrawbridgeError('NOT_FOUND', 'The newest response has no such clarification');
}

function alreadyAnswered(): DrawbridgeError {
  return new DrawbridgeError('ALREADY_ANSWERED', 'These questions no longer wait for an answer');
}
