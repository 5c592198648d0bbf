/** The ways to reach people: the terminal of this machine, and enrolled devices over the tunnel. */
import { newDeferred } from '../../machine/deferred.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { type Lasting, lastingOf } from '../../shared/shown/proposal.ts';
import { takesContent } from '../../shared/wire/approval-text.ts';
import type { ApprovalQuestion, DeviceKey } from '../../shared/wire/approvals.ts';
import { readForm } from '../../shared/wire/elicitation.ts';
import type { ApprovalAnswer } from '../../shared/wire/tunnel.ts';
import { logTrouble } from '../log.ts';
import type { Asker, OpenQuestion } from './asking.ts';
import type { AnswerEntry } from './book.ts';
import { verifyApproval } from './devices.ts';

export interface TerminalAnswer {
  /** `always` is a `once` with a rule that lets the same tool of a server, or the same site, pass without a question. */
  readonly decision: 'once' | 'always' | 'reject';
  readonly message?: string;
  readonly content?: string;
}

/** A person at the machine. */
export interface TerminalPrompt {
  /** Undefined without an answer: the terminal was closed, or the signal withdrew the question. Never rejects. */
  ask(
    question: ApprovalQuestion,
    reason: string,
    signal: AbortSignal,
  ): Promise<TerminalAnswer | undefined>;
}

/** Asks at the terminal. `allowAlways` writes the rule of an `always`; without the rule the yes counts once. */
export function terminalAsker(
  prompt: TerminalPrompt,
  allowAlways: (lasting: Lasting) => Promise<void>,
): Asker {
  return {
    ask: async ({ question, reason }, signal) => {
      const answer = await prompt.ask(question, reason, signal);
      if (answer?.decision !== 'always')
        return answer && toAnswered({ ...answer, decision: answer.decision }, 'terminal');
      const lasting = lastingOf(question.proposal);
      if (lasting)
        await allowAlways(lasting).catch((error: unknown) =>
          logTrouble({ event: 'rules_unreadable' }, 'The rule was not written', error),
        );
      return toAnswered({ ...answer, decision: 'once' }, 'terminal');
    },
  };
}

/**
 * The outcome of a device's answer. A `refused` answer leaves the question open. A `not_pending` answer came after
 * another one or before its question; an early one is checked when the question is asked.
 */
export type AnswerOutcome = 'counted' | 'refused' | 'not_pending';

interface DeviceOptions {
  /** Read anew for each answer, so that a newly enrolled device counts. */
  readonly keys: () => Promise<readonly DeviceKey[]>;
  readonly onRefused: (answer: ApprovalAnswer, why: string) => void;
  /** Called with the device whose approval has counted. */
  readonly onUsed?: (deviceId: string) => void;
}

interface Waiting {
  readonly question: ApprovalQuestion;
  readonly answered: Promise<AnswerEntry | undefined>;
  readonly resolve: (answered: AnswerEntry | undefined) => void;
}

/** Takes the answers that the tunnel brings. The tunnel itself shows the question to devices. */
export class DeviceAsker implements Asker {
  readonly #options: DeviceOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Answers that came before their questions: a tunnel that comes back brings calls and answers at the same time. */
  readonly #early = new Map<string, ApprovalAnswer>();

  constructor(options: DeviceOptions) {
    this.#options = options;
  }

  early(
    question: ApprovalQuestion,
    signal: AbortSignal,
  ): Promise<AnswerEntry | undefined> | undefined {
    const early = this.#early.get(question.callId);
    if (early === undefined) return undefined;
    this.#early.delete(question.callId);
    const { answered } = this.#wait(question, signal);
    return this.answer(early).then((outcome) => (outcome === 'refused' ? undefined : answered));
  }

  async ask({ question }: OpenQuestion, signal: AbortSignal): Promise<AnswerEntry | undefined> {
    return await this.#wait(question, signal).answered;
  }

  /** Takes a device's answer. Never rejects. */
  async answer(answer: ApprovalAnswer): Promise<AnswerOutcome> {
    const waiting = this.#waiting.get(answer.callId);
    if (waiting === undefined) {
      this.#keepEarly(answer);
      return 'not_pending';
    }
    const { nonce, proposal } = waiting.question;
    if (answer.nonce !== nonce) return this.#refuse(answer, OTHER_QUESTION);
    if (answer.content !== undefined && !takesContent(proposal)) {
      return this.#refuse(answer, TAKES_NO_CONTENT);
    }
    if (answer.decision === 'once' && proposal.kind === 'elicitation') {
      const form = readForm(proposal.fields, answer.content ?? '{}');
      if (!form.isValid) return this.#refuse(answer, form.problem);
    }
    // An unreadable file of keys enrols no device. The command that enrols devices reports what is wrong with the file.
    const keys = await this.#options.keys().catch(() => []);
    if (!(await verifyApproval(answer, waiting.question, keys))) {
      return this.#refuse(answer, NOT_SIGNED);
    }
    if (this.#waiting.get(answer.callId) !== waiting) return 'not_pending';
    this.#waiting.delete(answer.callId);
    waiting.resolve(toAnswered(answer, 'device'));
    if (answer.decision === 'once' && answer.signature) {
      this.#options.onUsed?.(answer.signature.deviceId);
    }
    return 'counted';
  }

  /** Waits until the question is answered here, or the signal withdraws it. */
  #wait(question: ApprovalQuestion, signal: AbortSignal): Waiting {
    const { callId } = question;
    const known = this.#waiting.get(callId);
    if (known?.question === question) return known;
    const { promise: answered, resolve } = newDeferred<AnswerEntry | undefined>();
    const waiting = { question, answered, resolve };
    this.#waiting.set(callId, waiting);
    const end = () => {
      if (this.#waiting.get(callId) === waiting) this.#waiting.delete(callId);
      resolve(undefined);
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    return waiting;
  }

  /** Late answers end here too, so the oldest make room. */
  #keepEarly(answer: ApprovalAnswer): void {
    this.#early.set(answer.callId, answer);
    const [oldest] = this.#early.keys();
    if (oldest !== undefined && this.#early.size > COMMAND_LIMITS.maxEarlyAnswers) {
      this.#early.delete(oldest);
    }
  }

  #refuse(answer: ApprovalAnswer, why: string): AnswerOutcome {
    this.#options.onRefused(answer, why);
    return 'refused';
  }
}

const NOT_SIGNED =
  'The answer is not signed by a device that is enrolled at this bridge, or its signature is for another question. `drawbridge devices` at its machine enrols one.';
const TAKES_NO_CONTENT =
  'Only a change to a file or the question of a server takes content: allow this call as it is, or reject it.';
const OTHER_QUESTION = 'Another question has replaced the one that was answered.';

function toAnswered(
  { decision, message, content }: Pick<ApprovalAnswer, 'decision' | 'message' | 'content'>,
  by: string,
): AnswerEntry {
  const said = message === undefined || message === '' ? {} : { message };
  const isChanged = decision === 'once' && content !== undefined;
  return { decision, by, ...said, ...(isChanged && { content }) };
}
