/** Asks people about calls. It asks everywhere at once, and the first valid answer decides. */

import { newDeferred } from '../../machine/deferred.ts';
import { logTrouble } from '../../machine/log.ts';
import type { AnswerEntry, Asker, OpenQuestion, Resolution } from '../../packages/host/index.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import type { ApprovalQuestion, Scope } from '../../shared/wire/approvals.ts';
import type { QuestionBook } from './book.ts';
import { type ApprovalSubject, digestOf } from './proposal.ts';

export interface AskingOptions {
  readonly bridgeId: string;
  readonly book: QuestionBook;
  readonly askers: readonly Asker[];
  /** Whether a device of another machine may answer `always`. */
  readonly devicesMayAllowAlways?: boolean | undefined;
  /** Makes rules of an answer that lasts, once it is on disk. Making the same again changes nothing. */
  readonly onLasting?: (question: ApprovalQuestion, answer: LastingAnswer) => Promise<void>;
  /** Called with each answer that counts, once it is on disk. */
  readonly onAnswered?: (question: ApprovalQuestion, answer: CountedAnswer) => void;
  readonly onRequested: (open: OpenQuestion) => void;
  readonly onResolved: (
    question: Pick<ApprovalQuestion, 'callId' | 'nonce'>,
    resolution: Resolution,
  ) => void;
}

/** An answer that reaches farther than its call. */
interface LastingAnswer {
  readonly scope: Scope;
  readonly pattern: string;
}

/** `proposal` is its digest; absent for a private conversation. */
interface CountedAnswer extends Pick<AnswerEntry, 'decision' | 'by' | 'scope' | 'signature'> {
  readonly proposal?: string | undefined;
}

/** A question, and how to check whether it still holds. */
interface Inquiry {
  readonly subject: ApprovalSubject;
  readonly reason: string;
  readonly edited?: OpenQuestion['edited'];
  /** The patterns of a yes that lasts; absent where a yes counts for this call alone. */
  readonly pattern?: string | undefined;
  readonly isPrivate?: true | undefined;
  readonly signal: AbortSignal;
  /** Called before a yes counts. False makes the yes void. */
  readonly stillHolds?: () => Promise<boolean>;
}

/** The open questions of one bridge, by call id. */
export class Asking {
  readonly #options: AskingOptions;
  readonly #pending = new Map<string, OpenQuestion>();

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** The open questions, to be sent again to a tunnel that comes back. */
  get pending(): readonly OpenQuestion[] {
    return [...this.#pending.values()];
  }

  /**
   * Asks, and resolves with the first answer. The answer may have come earlier, even to an earlier process. Rejects
   * when the question or the answer cannot be stored; then the call must not run. A second question about the same call
   * at the same time is a bug and rejects.
   */
  async ask(inquiry: Inquiry): Promise<Resolution> {
    const { subject, reason, edited, pattern } = inquiry;
    const { callId, proposal } = subject;
    if (this.#pending.has(callId)) throw new Error(`Call ${callId} is being asked about already.`);
    const { bridgeId, book, devicesMayAllowAlways = false } = this.#options;
    const { onRequested, onResolved } = this.#options;
    const beforeHash = proposal.kind === 'edit' ? proposal.beforeHash : undefined;
    const { nonce, answer } = book.ask(callId, digestOf(subject), beforeHash);
    const question = { ...subject, bridgeId, nonce };
    if (answer !== undefined) {
      const kept = await this.#keep(question, answer);
      onResolved(question, kept);
      return kept;
    }
    const lasting = pattern === undefined ? undefined : { pattern, always: devicesMayAllowAlways };
    const open = { question, reason, edited, lasting };
    this.#pending.set(callId, open);
    onRequested(open);
    return await this.#resolve(open, inquiry);
  }

  /** Ends a question that an earlier process asked and that needs no answer now: every device drops it. */
  drop(callId: string, nonce: string): void {
    this.#options.onResolved({ callId, nonce }, SUPERSEDED);
  }

  /** Stores a person's answer on disk before anything follows from it. */
  async #resolve(open: OpenQuestion, inquiry: Inquiry): Promise<Resolution> {
    const { question } = open;
    const { callId, nonce } = question;
    const { book, onResolved } = this.#options;
    const closing = new AbortController();
    try {
      const { signature, ...first } = await this.#firstAnswer(open, inquiry.signal, closing.signal);
      const isVoid = first.decision === 'once' && (await inquiry.stillHolds?.()) === false;
      const resolution = isVoid ? SUPERSEDED : first;
      if (isAnswered(resolution)) {
        book.answer(callId, nonce, toKeep(open, resolution));
        const { decision, by, scope } = resolution;
        const shown = inquiry.isPrivate ? {} : { proposal: digestOf(inquiry.subject), signature };
        this.#options.onAnswered?.(question, { decision, by, scope, ...shown });
      }
      const kept = await this.#keep(question, resolution);
      onResolved(question, kept);
      return kept;
    } catch (error) {
      onResolved(question, inquiry.signal.aborted ? CANCELLED : NOT_KEPT);
      throw error;
    } finally {
      this.#pending.delete(callId);
      closing.abort();
    }
  }

  /** Without the rules of a lasting answer the yes counts for its call. */
  async #keep(question: ApprovalQuestion, resolution: Resolution): Promise<Resolution> {
    const { scope, pattern, ...once } = resolution;
    if (scope === undefined || pattern === undefined) return once;
    try {
      await this.#options.onLasting?.(question, { scope, pattern });
      return resolution;
    } catch (error) {
      logTrouble({ event: 'rules_unreadable' }, 'The rule was not written', error);
      return once;
    }
  }

  /** The question ends with its call, or after `approvalMs` without an answer. */
  #firstAnswer(open: OpenQuestion, signal: AbortSignal, closed: AbortSignal): Promise<FirstAnswer> {
    const { promise, resolve } = newDeferred<FirstAnswer>();
    const timer = setTimeout(() => resolve(EXPIRED), RUN_LIMITS.approvalMs);
    closed.addEventListener('abort', () => clearTimeout(timer));
    const onAbort = () => resolve(CANCELLED);
    signal.addEventListener('abort', onAbort, { signal: closed });
    if (signal.aborted) onAbort();
    else void this.#askEverywhere(open, closed, resolve);
    return promise;
  }

  async #askEverywhere(
    open: OpenQuestion,
    closed: AbortSignal,
    answer: (answered: AnswerEntry) => void,
  ): Promise<void> {
    const { askers } = this.#options;
    for (const asker of askers) {
      const looking = asker.early?.(open, closed);
      const early = looking && (await looking);
      if (early !== undefined) return answer(early);
    }
    if (closed.aborted) return;
    for (const asker of askers) {
      void asker.ask(open, closed).then((answered) => answered && answer(answered));
    }
  }
}

type FirstAnswer = Resolution & Pick<AnswerEntry, 'signature'>;

const SUPERSEDED: Resolution = { decision: 'superseded', by: 'drawbridge' };
const EXPIRED = expired('No one answered in time.');
const CANCELLED = expired('The call was cancelled.');
const NOT_KEPT = expired('The bridge could not keep the answer on its disk.');

function expired(message: string): Resolution {
  return { decision: 'expired', by: 'drawbridge', message };
}

/** A server's question ends with its process, so that what the person typed need not stay on the disk. */
function toKeep({ question }: OpenQuestion, answered: AnswerEntry): AnswerEntry {
  if (question.proposal.kind !== 'elicitation') return answered;
  const { content: _, ...kept } = answered;
  return kept;
}

function isAnswered(resolution: Resolution): resolution is AnswerEntry {
  return resolution.decision === 'once' || resolution.decision === 'reject';
}
