/** Asks people about calls: at the terminal and on every device at once; the first answer that counts decides. */
import type { ApprovalQuestion, DeviceKey } from '../../shared/approvals.ts';
import { COMMAND_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import type { ApprovalAnswer } from '../../shared/tunnel.ts';
import { verifyApproval } from './devices.ts';
import { type ApprovalSubject, digestOf } from './proposal.ts';

/** How a question ended. `expired` also stands for one that was withdrawn with its call. */
export interface Resolution {
  readonly decision: 'once' | 'reject' | 'expired';
  /** `device`, `terminal` or `drawbridge`. */
  readonly by: string;
  readonly message?: string;
}

/** How a person has answered. */
export interface Answered extends Resolution {
  readonly decision: 'once' | 'reject';
}

/**
 * What became of a device's answer: a `refused` one leaves the question open; a `not_pending` one came after
 * another, or before the question, and is then looked at when that is asked.
 */
export type AnswerOutcome = 'counted' | 'refused' | 'not_pending';

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

/** Where questions and answers are kept: what either method says is on disk when it returns. Both throw when it cannot be. */
export interface QuestionBook {
  /**
   * The nonce of the question about a call. Only where the same digest was asked about before, and the call has not been
   * started since, it is the nonce of that time, with the answer that was given.
   */
  ask(callId: string, digest: string): { readonly nonce: string; readonly answer?: Answered };
  answer(callId: string, nonce: string, answer: Answered): void;
}

/** A question that waits for its answer. */
export interface OpenQuestion {
  readonly question: ApprovalQuestion;
  /** Why it is asked, in one sentence. */
  readonly reason: string;
}

export interface AskingOptions {
  readonly bridgeId: string;
  readonly book: QuestionBook;
  /** Undefined where nobody sits. */
  readonly terminal: TerminalPrompt | undefined;
  /** Read anew for each answer, so that a device enrolled meanwhile counts. */
  readonly devices: () => Promise<readonly DeviceKey[]>;
  readonly onRequested: (open: OpenQuestion) => void;
  readonly onRefused: (answer: ApprovalAnswer, why: string) => void;
  readonly onResolved: (question: ApprovalQuestion, resolution: Resolution) => void;
}

/** The open questions of one bridge, by call id. */
export class Asking {
  readonly #options: AskingOptions;
  readonly #pending = new Map<string, Question>();
  /** A tunnel that comes back tells calls and their answers at once, and a question takes a moment to be asked. */
  readonly #early = new Map<string, ApprovalAnswer>();

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** What is being asked, to be told again to a tunnel that comes back. */
  get pending(): readonly OpenQuestion[] {
    return [...this.#pending.values()];
  }

  /**
   * Asks, and resolves with the first answer, which may have come before, also to an earlier process. Rejects when the
   * question or the answer cannot be kept: then the call must not run. A call is asked about once at a time; asking again
   * meanwhile is a bug and rejects.
   */
  async ask(subject: ApprovalSubject, reason: string, signal: AbortSignal): Promise<Resolution> {
    const { callId } = subject;
    if (this.#pending.has(callId)) throw new Error(`Call ${callId} is being asked about already.`);
    const { bridgeId, book, onRequested, onResolved } = this.#options;
    const { nonce, answer } = book.ask(callId, digestOf(subject));
    const asked = { ...subject, bridgeId, nonce };
    if (answer !== undefined) {
      onResolved(asked, answer);
      return answer;
    }
    const question = new Question(asked, reason);
    this.#pending.set(callId, question);
    onRequested(question);
    this.#limit(question, signal);
    if (!question.closed.aborted) void this.#askEverywhere(question);
    return await question.resolution;
  }

  /** A device's answer; never rejects. */
  async answer(answer: ApprovalAnswer): Promise<AnswerOutcome> {
    const question = this.#pending.get(answer.callId);
    if (question === undefined) {
      this.#keepEarly(answer);
      return 'not_pending';
    }
    if (answer.nonce !== question.question.nonce) return this.#refuse(answer, SUPERSEDED);
    // Keys that cannot be read enrol nobody; the command that enrols says what is wrong with them.
    const devices = await this.#options.devices().catch(() => []);
    if (!(await verifyApproval(answer, question.question, devices))) {
      return this.#refuse(answer, NOT_SIGNED);
    }
    const { decision, message } = answer;
    const isFirst = this.#resolve(question, { decision, by: 'device', ...withMessage(message) });
    return isFirst ? 'counted' : 'not_pending';
  }

  /** The question ends with its call, or when nobody has answered in time. */
  #limit(question: Question, signal: AbortSignal): void {
    const expire = (message: string) => () => {
      this.#resolve(question, { decision: 'expired', by: 'drawbridge', message });
    };
    const timer = setTimeout(expire('Nobody answered in time.'), RUN_LIMITS.approvalMs);
    question.closed.addEventListener('abort', () => clearTimeout(timer));
    const onAbort = expire('The call was cancelled.');
    signal.addEventListener('abort', onAbort, { signal: question.closed });
    if (signal.aborted) onAbort();
  }

  /** At the terminal only when no device has answered before. */
  async #askEverywhere(open: Question): Promise<void> {
    const { question, reason, closed } = open;
    const early = this.#early.get(question.callId);
    this.#early.delete(question.callId);
    if (early !== undefined && (await this.answer(early)) !== 'refused') return;
    const answer = await this.#options.terminal?.ask(question, reason, closed);
    if (answer === undefined) return;
    const { decision, message } = answer;
    this.#resolve(open, { decision, by: 'terminal', ...withMessage(message) });
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

  /** Whether this was the first resolution. A person's answer is on disk before anything follows from it. */
  #resolve(open: Question, resolution: Resolution): boolean {
    const { question } = open;
    const { callId, nonce } = question;
    if (this.#pending.get(callId) !== open) return false;
    this.#pending.delete(callId);
    const { book, onResolved } = this.#options;
    try {
      if (isAnswered(resolution)) book.answer(callId, nonce, resolution);
    } catch (error) {
      open.fail(error);
      onResolved(question, { decision: 'expired', by: 'drawbridge', message: NOT_KEPT });
      return true;
    }
    open.close(resolution);
    onResolved(question, resolution);
    return true;
  }
}

const NOT_SIGNED =
  'The answer is not signed by a device that is enrolled at this bridge, or not for what was asked.';
const SUPERSEDED = 'Another question has taken the place of the one that was answered.';
const NOT_KEPT = 'The bridge could not keep the answer on its disk.';

/** One open question. */
class Question implements OpenQuestion {
  readonly question: ApprovalQuestion;
  readonly reason: string;
  readonly resolution: Promise<Resolution>;
  readonly #resolve: (resolution: Resolution) => void;
  readonly #reject: (error: unknown) => void;
  readonly #closing = new AbortController();

  constructor(question: ApprovalQuestion, reason: string) {
    this.question = question;
    this.reason = reason;
    const { promise, resolve, reject } = Promise.withResolvers<Resolution>();
    this.resolution = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Aborted when nobody needs to answer any more. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  close(resolution: Resolution): void {
    this.#closing.abort();
    this.#resolve(resolution);
  }

  /** Its answer is lost. */
  fail(error: unknown): void {
    this.#closing.abort();
    this.#reject(error);
  }
}

function isAnswered(resolution: Resolution): resolution is Answered {
  return resolution.decision !== 'expired';
}

function withMessage(message: string | undefined): { message?: string } {
  return message === undefined || message === '' ? {} : { message };
}
