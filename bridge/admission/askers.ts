/** The ways to reach people: the terminal of this machine, and enrolled devices over the tunnel. */

import { newDeferred } from '../../machine/deferred.ts';
import type { AnswerEntry, Asker, OpenQuestion } from '../../packages/host/index.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { takesContent } from '../../shared/wire/approval-text.ts';
import type { EnrolledDevice } from '../../shared/wire/approvals.ts';
import { readForm } from '../../shared/wire/elicitation.ts';
import type { ApprovalAnswer } from '../../shared/wire/tunnel.ts';

import { verifyApproval } from './devices.ts';
import { problemOfPattern } from './lasting.ts';

export type TerminalAnswer = Omit<AnswerEntry, 'by'>;

/** A person at the machine. */
export interface TerminalPrompt {
  /** Undefined without an answer: the terminal was closed, or the signal withdrew the question. Never rejects. */
  ask(open: OpenQuestion, signal: AbortSignal): Promise<TerminalAnswer | undefined>;
}

export function terminalAsker(prompt: TerminalPrompt): Asker {
  return {
    ask: async (open, signal) => {
      const answer = await prompt.ask(open, signal);
      return answer && toAnswered(answer, 'terminal');
    },
  };
}

/**
 * The outcome of a device's answer. A `refused` answer leaves the question open. A `not_pending` answer came after
 * another one or before its question; an early one is checked when the question is asked.
 */
type AnswerOutcome = 'counted' | 'refused' | 'not_pending';

interface DeviceOptions {
  /** Read anew for each answer, so that a newly enrolled device counts. */
  readonly keys: () => Promise<readonly EnrolledDevice[]>;
  /** Whether the owner counts the devices of other machines only by passkeys. */
  readonly needsPasskey?: boolean | undefined;
  readonly onRefused: (answer: ApprovalAnswer, why: string) => void;
  /** Called with the device whose approval has counted. */
  readonly onUsed?: (deviceId: string) => void;
}

interface Waiting {
  readonly open: Pick<OpenQuestion, 'question' | 'lasting'>;
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

  early(open: OpenQuestion, signal: AbortSignal): Promise<AnswerEntry | undefined> | undefined {
    const { callId } = open.question;
    const early = this.#early.get(callId);
    if (early === undefined) return undefined;
    this.#early.delete(callId);
    const { answered } = this.#wait(open, signal);
    return this.answer(early).then((outcome) => (outcome === 'refused' ? undefined : answered));
  }

  async ask(open: OpenQuestion, signal: AbortSignal): Promise<AnswerEntry | undefined> {
    return await this.#wait(open, signal).answered;
  }

  /** Takes a device's answer. Never rejects. */
  async answer(answer: ApprovalAnswer): Promise<AnswerOutcome> {
    const waiting = this.#waiting.get(answer.callId);
    if (waiting === undefined) {
      this.#keepEarly(answer);
      return 'not_pending';
    }
    const { question } = waiting.open;
    const { nonce, proposal } = question;
    if (answer.nonce !== nonce) return this.#refuse(answer, REFUSALS.otherQuestion);
    if (answer.content !== undefined && !takesContent(proposal)) {
      return this.#refuse(answer, REFUSALS.takesNoContent);
    }
    if (answer.decision === 'once' && proposal.kind === 'elicitation') {
      const form = readForm(proposal.fields, answer.content ?? '{}');
      if (!form.isValid) return this.#refuse(answer, form.problem);
    }
    // An unreadable file of keys enrols no device. The command that enrols devices reports what is wrong with the file.
    const keys = await this.#options.keys().catch(() => []);
    const device = keys.find(({ deviceId }) => deviceId === answer.signature?.deviceId);
    if (!(await verifyApproval(answer, question, keys))) {
      const { signature } = answer;
      const why = device ? 'otherSignature' : signature ? 'notEnrolled' : 'notSigned';
      return this.#refuse(answer, REFUSALS[why]);
    }
    const problem = this.#problemOfDevice(device) ?? problemOfReach(answer, waiting.open, device);
    if (problem !== undefined) return this.#refuse(answer, problem);
    if (this.#waiting.get(answer.callId) !== waiting) return 'not_pending';
    this.#waiting.delete(answer.callId);
    waiting.resolve(toAnswered(answer, 'device'));
    if (answer.decision === 'once' && answer.signature) {
      this.#options.onUsed?.(answer.signature.deviceId);
    }
    return 'counted';
  }

  /** A rejection without a device counts from anybody. */
  #problemOfDevice(device: EnrolledDevice | undefined): string | undefined {
    const isRefused = this.#options.needsPasskey && device && !device.passkey && !isHere(device);
    return isRefused ? REFUSALS.onlyPasskeys : undefined;
  }

  /** Waits until the question is answered here, or the signal withdraws it. */
  #wait(open: OpenQuestion, signal: AbortSignal): Waiting {
    const { callId } = open.question;
    const known = this.#waiting.get(callId);
    if (known?.open.question === open.question) return known;
    const { promise: answered, resolve } = newDeferred<AnswerEntry | undefined>();
    const waiting = { open, answered, resolve };
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

/** Why an answer may not reach as far as it says; undefined for one that may. */
function problemOfReach(
  { decision, scope, pattern, content }: ApprovalAnswer,
  { question, lasting }: Waiting['open'],
  device: EnrolledDevice | undefined,
): string | undefined {
  if (decision === 'reject' || scope === undefined) return undefined;
  if (!lasting || pattern === undefined || content !== undefined) {
    return REFUSALS.countsOnce;
  }
  if (device?.passkey) return REFUSALS.oneCall;
  if (scope === 'always' && !isHere(device) && !lasting.always) return REFUSALS.onlyHere;
  return problemOfPattern(question.proposal, pattern);
}

/** Whether it is the machine of the bridge itself. */
function isHere(device: EnrolledDevice | undefined): boolean {
  return device !== undefined && device.enrolledAt === undefined;
}

/** Why an answer does not count, and what to do about this very reason. A form and a pattern have sentences of their own. */
export const REFUSALS = {
  onlyPasskeys:
    'The owner counts other devices only by passkeys: `drawbridge config set devicesNeedPasskey false` at the machine changes that.',
  countsOnce: 'A yes to this question counts for its call alone.',
  onlyHere:
    'Only the machine of the bridge may allow this from now on. Its owner lets devices do so by `drawbridge config set devicesMayAllowAlways true`.',
  oneCall:
    'A passkey allows one call at a time: its page comes from a server that could show another pattern.',
  notSigned: 'A yes must be signed by a device that is enrolled at this bridge.',
  notEnrolled:
    'This device is not enrolled at this bridge. For a terminal, `drawbridge devices show` there prints its key, and ' +
    '`drawbridge devices enrol KEY` at the machine of the bridge takes it; for a browser, run `drawbridge open` there.',
  otherSignature:
    'The device is enrolled, but has signed something else than this question: answer it again as it is shown now.',
  takesNoContent:
    'Only a change to a file or the question of a server takes content: allow this call as it is, or reject it.',
  otherQuestion: 'Another question has replaced the one that was answered.',
} as const;

function toAnswered(
  {
    decision,
    message,
    content,
    scope,
    pattern,
    signature,
  }: Omit<ApprovalAnswer, 'callId' | 'nonce'>,
  by: string,
): AnswerEntry {
  const said = message === undefined || message === '' ? {} : { message };
  const isChanged = decision === 'once' && content !== undefined;
  const reach = decision === 'once' && scope !== undefined ? { scope, pattern } : {};
  const signed = signature && { signature };
  return { decision, by, ...said, ...reach, ...signed, ...(isChanged && { content }) };
}
