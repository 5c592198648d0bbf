/** The ways to reach people: the terminal of this machine, and enrolled devices over the tunnel. */
import { newDeferred } from '../../machine/deferred.ts';
import type { ApprovalQuestion, DeviceKey } from '../../shared/approvals.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import type { ApprovalAnswer } from '../../shared/tunnel.ts';
import type { Asker, OpenQuestion } from './asking.ts';
import type { Answered } from './book.ts';
import { verifyApproval } from './devices.ts';

export interface TerminalAnswer {
  readonly decision: 'once' | 'reject';
  readonly message?: string;
}

/** Somebody at the machine. */
export interface TerminalPrompt {
  /** Undefined when nobody answered: the terminal was closed, or the signal took the question back. Never rejects. */
  ask(
    question: ApprovalQuestion,
    reason: string,
    signal: AbortSignal,
  ): Promise<TerminalAnswer | undefined>;
}

/** Asks at the terminal. */
export function terminalAsker(prompt: TerminalPrompt): Asker {
  return {
    ask: async ({ question, reason }, signal) => {
      const answer = await prompt.ask(question, reason, signal);
      return answer && toAnswered(answer, 'terminal');
    },
  };
}

/**
 * What became of a device's answer: a `refused` one leaves the question open; a `not_pending` one came after
 * another, or before the question, and is then looked at when that is asked.
 */
export type AnswerOutcome = 'counted' | 'refused' | 'not_pending';

interface DeviceOptions {
  /** Read anew for each answer, so that a device enrolled meanwhile counts. */
  readonly keys: () => Promise<readonly DeviceKey[]>;
  readonly onRefused: (answer: ApprovalAnswer, why: string) => void;
}

interface Waiting {
  readonly question: ApprovalQuestion;
  readonly answered: Promise<Answered | undefined>;
  readonly resolve: (answered: Answered | undefined) => void;
}

/** Takes the answers that the tunnel brings. That devices see the question is the tunnel's business. */
export class DeviceAsker implements Asker {
  readonly #options: DeviceOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** A tunnel that comes back tells calls and their answers at once, and a question takes a moment to be asked. */
  readonly #early = new Map<string, ApprovalAnswer>();

  constructor(options: DeviceOptions) {
    this.#options = options;
  }

  early(
    question: ApprovalQuestion,
    signal: AbortSignal,
  ): Promise<Answered | undefined> | undefined {
    const early = this.#early.get(question.callId);
    if (early === undefined) return undefined;
    this.#early.delete(question.callId);
    const { answered } = this.#wait(question, signal);
    return this.answer(early).then((outcome) => (outcome === 'refused' ? undefined : answered));
  }

  async ask({ question }: OpenQuestion, signal: AbortSignal): Promise<Answered | undefined> {
    return await this.#wait(question, signal).answered;
  }

  /** A device's answer; never rejects. */
  async answer(answer: ApprovalAnswer): Promise<AnswerOutcome> {
    const waiting = this.#waiting.get(answer.callId);
    if (waiting === undefined) {
      this.#keepEarly(answer);
      return 'not_pending';
    }
    if (answer.nonce !== waiting.question.nonce) return this.#refuse(answer, OTHER_QUESTION);
    // Keys that cannot be read enrol nobody; the command that enrols says what is wrong with them.
    const keys = await this.#options.keys().catch(() => []);
    if (!(await verifyApproval(answer, waiting.question, keys))) {
      return this.#refuse(answer, NOT_SIGNED);
    }
    if (this.#waiting.get(answer.callId) !== waiting) return 'not_pending';
    this.#waiting.delete(answer.callId);
    waiting.resolve(toAnswered(answer, 'device'));
    return 'counted';
  }

  /** Until it is answered here, or the signal takes it back. */
  #wait(question: ApprovalQuestion, signal: AbortSignal): Waiting {
    const { callId } = question;
    const known = this.#waiting.get(callId);
    if (known?.question === question) return known;
    const { promise: answered, resolve } = newDeferred<Answered | undefined>();
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

  /** Also answers that came too late end here, so the oldest make room. */
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
  'The answer is not signed by a device that is enrolled at this bridge, or not for what was asked.';
const OTHER_QUESTION = 'Another question has taken the place of the one that was answered.';

function toAnswered(
  { decision, message }: Pick<ApprovalAnswer, 'decision' | 'message'>,
  by: string,
): Answered {
  const said = message === undefined || message === '' ? {} : { message };
  return { decision, by, ...said };
}
