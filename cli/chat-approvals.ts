/** Questions of the bridge, put to the person one after the other and answered with this machine's signature. */
import { type Device, signApproval } from '../client/device.ts';
import { ClientError } from '../client/error.ts';
import type { StreamEvent } from '../shared/events.ts';
import { REQUEST_LIMITS } from '../shared/limits.ts';
import type { ApprovalRequest } from '../shared/requests.ts';
import { approvalEvent } from './catch-up.ts';
import type { Chat } from './chat.ts';

type Question = Extract<StreamEvent, { type: 'approval_request' }>;

/** The open questions of one turn. What is asked is on the screen already (cli/render-run.ts). */
export class Approvals {
  readonly #chat: Chat;
  readonly #open = new Map<string, AbortController>();
  #asked: Promise<void> = Promise.resolve();

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  /** Puts the questions of an event, each once those before it are settled. */
  askFor(event: StreamEvent): void {
    for (const question of questionsOf(event)) {
      if (this.#open.has(question.callId)) continue;
      const withdrawn = new AbortController();
      this.#open.set(question.callId, withdrawn);
      this.#asked = this.#asked.then(() => this.#ask(question, withdrawn.signal));
    }
  }

  /** Takes back what somebody else has answered. */
  withdrawAnswered(event: StreamEvent): void {
    if (event.type === 'approval_resolved') this.#open.get(event.callId)?.abort();
    if (event.type !== 'snapshot') return;
    const waiting = new Set(questionsOf(event).map(({ callId }) => callId));
    for (const [callId, withdrawn] of this.#open) if (!waiting.has(callId)) withdrawn.abort();
  }

  withdrawAll(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
  }

  /** Withdraws what is open, and waits until the terminal is free again. */
  async end(): Promise<void> {
    this.withdrawAll();
    await this.#asked;
  }

  async #ask(question: Question, signal: AbortSignal): Promise<void> {
    const { terminal, device } = this.#chat;
    const say = (words: string) => terminal.write(`${terminal.paint('yellow', words)}\n`);
    if (signal.aborted) return;
    if (!terminal.isInteractive || !device) {
      say(device ? NO_TERMINAL : NO_KEY);
      return;
    }
    const answer = await this.#askUntilClear(signal);
    if (answer === undefined) {
      if (!signal.aborted) say(NO_TERMINAL);
      return;
    }
    try {
      await this.#send(question, answer, device);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      say(`The answer did not count: ${error.message} (${error.code})`);
    }
  }

  async #askUntilClear(signal: AbortSignal): Promise<Answer | undefined> {
    while (true) {
      const text = await this.#chat.terminal.ask('Allow it? y, or n and why: ', signal);
      if (text === undefined) return undefined;
      const answer = parseAnswer(text);
      if (answer) return answer;
    }
  }

  async #send({ callId, toolName, arguments: args }: Question, answer: Answer, device: Device) {
    const { client, conversationId = '' } = this.#chat;
    const subject = { callId, toolName, arguments: args };
    const signature =
      answer.decision === 'once' ? { signature: await signApproval(device, subject) } : {};
    await client.answerApproval(conversationId, callId, { ...answer, ...signature });
  }
}

const NO_TERMINAL =
  'Answer it at the machine where the bridge runs or on a device that is enrolled there; here that takes a terminal. ' +
  'Ctrl-C cancels the run.';
const NO_KEY =
  'This machine has no key that the bridge knows. Answer it where the bridge runs or on an enrolled device. ' +
  'Ctrl-C cancels the run.';

type Answer = Pick<ApprovalRequest, 'decision' | 'message'>;

/** `y`, `yes`, `n`, `no`, and after a no the reason. Null for anything else: nobody says yes by accident. */
export function parseAnswer(text: string): Answer | null {
  if (/^\s*y(?:es)?\s*$/i.test(text)) return { decision: 'once' };
  const no = /^\s*no?(?:$|[\s,:;.-]+(.*))$/is.exec(text);
  if (!no) return null;
  const message = no[1]?.trim().slice(0, REQUEST_LIMITS.maxReasonChars);
  return { decision: 'reject', ...(message && { message }) };
}

/** The question of an event, or those that the documents of a snapshot wait with. */
function questionsOf(event: StreamEvent): Question[] {
  if (event.type === 'approval_request') return [event];
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return [];
  return event.snapshot.response.documents
    .map(approvalEvent)
    .filter((question) => question !== undefined);
}
