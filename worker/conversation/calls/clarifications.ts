/** Questions that the model asks the user. The first answer counts, from any device. */
import * as z from 'zod';
import type { ClarificationAnswer } from '../../../shared/api/requests.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { switchMode } from '../../../shared/tools/switch-mode.ts';
import { SECOND } from '../../../shared/units.ts';
import { type ChatResponse, type Document, Question } from '../../../shared/wire/documents.ts';
import { findDocument, isUnanswered } from '../../../shared/wire/fold.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import { findMode } from '../log/modes.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Call, Run, RunMode, Turn } from '../store/rows.ts';
import type { Recorder } from '../tape/recorder.ts';
import { answerByDefault, answerQuestions, passOver } from './edge-tools/questions.ts';
import { agrees, STAYS, switchResult } from './edge-tools/switch-mode.ts';
import { NOT_ANSWERED } from './executors.ts';

/** Stores a call's first result. `switched` is the mode that the run goes on in. */
type SettleCall = (callId: string, result: ToolResult, switched?: RunMode) => void;

/** The log and the fold are the truth: a question is open while its call has no result. */
export class Clarifications {
  readonly #log: RunLog;
  readonly #recorder: Recorder;
  readonly #settle: SettleCall;

  constructor(log: RunLog, recorder: Recorder, settle: SettleCall) {
    this.#log = log;
    this.#recorder = recorder;
    this.#settle = settle;
  }

  /**
   * Settles the call with a person's answers, and the run goes on. `response` is the current response, or the last one.
   * @throws {DrawbridgeError} NOT_FOUND, ALREADY_ANSWERED, and INVALID_REQUEST for answers that do not fit the questions.
   */
  answer(
    documentId: string,
    { responseId, answers }: ClarificationAnswer,
    response: ChatResponse | null,
  ): void {
    if (responseId !== undefined && responseId !== response?.id) throw alreadyAnswered();
    const document = response ? findDocument(response, documentId) : undefined;
    const questions = questionsOpenIn(document);
    const asked = this.#log.pending.find(({ call }) => call.documentId === documentId);
    if (!questions || !asked) {
      if (document?.type === 'clarification') throw alreadyAnswered();
      throw new DrawbridgeError('NOT_FOUND', 'The newest response has no such clarification');
    }
    const { call } = asked;
    const answered = answerQuestions(questions, answers);
    const mode = this.#proposedBy(call);
    if (mode === null) return this.#settle(call.callId, answered);
    const { machine = null } = this.#log.current ?? {};
    const found = agrees(answers) ? findMode(mode, machine) : undefined;
    this.#settle(call.callId, switchResult(mode, found !== undefined, answered), found);
  }

  /** When the open questions of the turn count as unanswered by the run's request; null without such questions. */
  unansweredAt({ request }: Run, turn: Turn): number | null {
    if (!request.questions || this.#open().length === 0) return null;
    return turn.atMs + request.questions.afterSeconds * SECOND;
  }

  /** Settles the open questions as the run's request says where no one answers. */
  answerThemselves({ request }: Run): void {
    for (const { call, questions } of this.#open()) {
      if (this.#proposedBy(call) !== null) this.#settle(call.callId, NOT_SWITCHED);
      else if (request.questions?.otherwise !== 'default') this.#settle(call.callId, NOT_ANSWERED);
      else this.#settle(call.callId, answerByDefault(questions));
    }
  }

  /** Ends the open questions, because the user has sent a message instead. */
  passOver(): void {
    for (const { call, questions } of this.#open()) {
      this.#settle(call.callId, passOver(questions));
    }
  }

  /** The calls that wait for a person's answer to their questions. */
  #open(): { readonly call: Call; readonly questions: readonly Question[] }[] {
    return this.#log.pending.flatMap(({ call }) => {
      const questions = questionsOpenIn(this.#recorder.document(call.documentId));
      return questions ? [{ call, questions }] : [];
    });
  }

  /** The mode that a call of `switch_mode` asks for; null for another call. */
  #proposedBy({ name, arguments: args }: Call): string | null {
    if (this.#log.toolbox.nameOf(name) !== switchMode.name) return null;
    return switchMode.arguments.parse(args).mode;
  }
}

/** The questions of a document; null when it does not wait for an answer. */
function questionsOpenIn(document: Document | undefined): readonly Question[] | null {
  if (!document || !isUnanswered(document.metadata)) return null;
  return z.array(Question).safeParse(document.metadata['questions']).data ?? null;
}

function alreadyAnswered(): DrawbridgeError {
  return new DrawbridgeError('ALREADY_ANSWERED', 'These questions no longer wait for an answer');
}

const NOT_SWITCHED = failure('NOT_ANSWERED', `No one answered in time. ${STAYS}`);
