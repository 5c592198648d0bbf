/** Asks people about calls: at the terminal and on every device at once; the first answer that counts decides. */
import type { ApprovalSubject, DeviceKey } from '../../shared/approvals.ts';
import { COMMAND_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import type { ApprovalAnswer } from '../../shared/tunnel.ts';
import { verifyApproval } from './devices.ts';

/** How a question ended. `expired` also stands for one that was withdrawn with its call. */
export interface Resolution {
  readonly decision: 'once' | 'reject' | 'expired';
  readonly by: 'device' | 'terminal' | 'drawbridge';
  readonly message?: string;
}

/**
 * What became of a device's answer: a `not_signed` one leaves the question open; a `not_pending` one came after
 * another, or before the question, and is then looked at when that is asked.
 */
export type AnswerOutcome = 'counted' | 'not_signed' | 'not_pending';

export interface TerminalAnswer {
  readonly decision: 'once' | 'reject';
  readonly message?: string;
}

/** Somebody at the machine. */
export interface TerminalPrompt {
  /** Undefined when nobody answered: the terminal was closed, or the signal took the question back. Never rejects. */
  ask(
    subject: ApprovalSubject,
    reason: string,
    signal: AbortSignal,
  ): Promise<TerminalAnswer | undefined>;
}

export interface AskingOptions {
  /** Undefined where nobody sits. */
  readonly terminal: TerminalPrompt | undefined;
  /** Read anew for each answer, so that a device enrolled meanwhile counts. */
  readonly devices: () => Promise<readonly DeviceKey[]>;
  readonly onRequested: (callId: string, reason: string) => void;
  readonly onResolved: (callId: string, resolution: Resolution) => void;
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
  get pending(): readonly { readonly callId: string; readonly reason: string }[] {
    return [...this.#pending].map(([callId, { reason }]) => ({ callId, reason }));
  }

  /**
   * Asks, and resolves with the first answer, which may have come before; never rejects. A call is asked about once
   * at a time; asking again meanwhile is a bug and throws.
   */
  ask(subject: ApprovalSubject, reason: string, signal: AbortSignal): Promise<Resolution> {
    const { callId } = subject;
    if (this.#pending.has(callId)) throw new Error(`Call ${callId} is being asked about already.`);
    const question = new Question(subject, reason);
    this.#pending.set(callId, question);
    this.#options.onRequested(callId, reason);
    const expire = (message: string) => () => {
      this.#resolve(question, { decision: 'expired', by: 'drawbridge', message });
    };
    const timer = setTimeout(expire('Nobody answered in time.'), RUN_LIMITS.approvalMs);
    question.closed.addEventListener('abort', () => clearTimeout(timer));
    const onAbort = expire('The call was cancelled.');
    signal.addEventListener('abort', onAbort, { signal: question.closed });
    if (signal.aborted) onAbort();
    else void this.#askEverywhere(question);
    return question.resolution;
  }

  /** A device's answer; never rejects. */
  async answer(answer: ApprovalAnswer): Promise<AnswerOutcome> {
    const question = this.#pending.get(answer.callId);
    if (question === undefined) {
      this.#keepEarly(answer);
      return 'not_pending';
    }
    // Keys that cannot be read enrol nobody; the command that enrols says what is wrong with them.
    const devices = await this.#options.devices().catch(() => []);
    if (!(await verifyApproval(answer, question.subject, devices))) return 'not_signed';
    const { decision, message } = answer;
    const isFirst = this.#resolve(question, { decision, by: 'device', ...withMessage(message) });
    return isFirst ? 'counted' : 'not_pending';
  }

  /** At the terminal only when no device has answered before. */
  async #askEverywhere(question: Question): Promise<void> {
    const { subject, reason, closed } = question;
    const early = this.#early.get(subject.callId);
    this.#early.delete(subject.callId);
    if (early !== undefined && (await this.answer(early)) !== 'not_signed') return;
    const answer = await this.#options.terminal?.ask(subject, reason, closed);
    if (answer === undefined) return;
    const { decision, message } = answer;
    this.#resolve(question, { decision, by: 'terminal', ...withMessage(message) });
  }

  /** Also answers that came too late end here, so the oldest make room. */
  #keepEarly(answer: ApprovalAnswer): void {
    this.#early.set(answer.callId, answer);
    const [oldest] = this.#early.keys();
    if (oldest !== undefined && this.#early.size > COMMAND_LIMITS.maxEarlyAnswers) {
      this.#early.delete(oldest);
    }
  }

  /** Whether this was the first resolution. */
  #resolve(question: Question, resolution: Resolution): boolean {
    const { callId } = question.subject;
    if (this.#pending.get(callId) !== question) return false;
    this.#pending.delete(callId);
    question.close(resolution);
    this.#options.onResolved(callId, resolution);
    return true;
  }
}

/** One open question. */
class Question {
  readonly subject: ApprovalSubject;
  readonly reason: string;
  readonly resolution: Promise<Resolution>;
  readonly #resolve: (resolution: Resolution) => void;
  readonly #closing = new AbortController();

  constructor(subject: ApprovalSubject, reason: string) {
    this.subject = subject;
    this.reason = reason;
    const { promise, resolve } = Promise.withResolvers<Resolution>();
    this.resolution = promise;
    this.#resolve = resolve;
  }

  /** Aborted when nobody needs to answer any more. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  close(resolution: Resolution): void {
    this.#closing.abort();
    this.#resolve(resolution);
  }
}

function withMessage(message: string | undefined): { message?: string } {
  return message === undefined || message === '' ? {} : { message };
}
