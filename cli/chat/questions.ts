/** Asks the person the questions of one turn, one after the other. */
import type { StreamEvent } from '../../shared/events.ts';
import {
  type ApprovalEvent,
  approvalEvent,
  type ClarificationEvent,
  clarificationEvent,
} from '../render/catch-up.ts';
import { askApproval } from './approvals.ts';
import type { Chat } from './chat.ts';
import { askClarification } from './clarifications.ts';

type Question = ApprovalEvent | ClarificationEvent;

/** Asks only for the answers: the screen already shows the questions. */
export class Questions {
  readonly #chat: Chat;
  readonly #open = new Map<string, AbortController>();
  #asked: Promise<void> = Promise.resolve();

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  /** Queues the questions of an event. Each is asked when the ones before it are settled. */
  askFor(event: StreamEvent): void {
    for (const question of questionsOf(event)) {
      const key = keyOf(question);
      if (this.#open.has(key)) continue;
      const withdrawn = new AbortController();
      this.#open.set(key, withdrawn);
      this.#asked = this.#asked.then(() => ask(this.#chat, question, withdrawn.signal));
    }
  }

  /** Withdraws the questions that are answered elsewhere or that the run no longer waits for. */
  withdrawAnswered(event: StreamEvent): void {
    if (event.type === 'approval_resolved') this.#withdraw(event.callId);
    if (event.type === 'document_end') this.#open.get(event.documentId)?.abort();
    if (event.type !== 'snapshot') return;
    const waiting = new Set(questionsOf(event).map(keyOf));
    for (const [key, withdrawn] of this.#open) if (!waiting.has(key)) withdrawn.abort();
  }

  withdrawAll(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
  }

  /** Withdraws all open questions, and waits until the terminal is free again. */
  async end(): Promise<void> {
    this.withdrawAll();
    await this.#asked;
  }

  /** Withdraws all questions about a call: each has its own nonce. */
  #withdraw(callId: string): void {
    for (const [key, withdrawn] of this.#open) if (key.startsWith(callId)) withdrawn.abort();
  }
}

async function ask(chat: Chat, question: Question, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  if (question.type === 'approval_request') await askApproval(chat, question, signal);
  else await askClarification(chat, question, signal);
}

function keyOf(question: Question): string {
  if (question.type !== 'approval_request') return question.documentId;
  return `${question.callId} ${question.nonce}`;
}

/** The question that an event asks, or the open questions of a snapshot's documents. */
function questionsOf(event: StreamEvent): Question[] {
  if (event.type === 'approval_request' || event.type === 'clarification_request') return [event];
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return [];
  return event.snapshot.response.documents
    .flatMap((document) => [approvalEvent(document), clarificationEvent(document)])
    .filter((question) => question !== undefined);
}

/** Whether the run waits for a person after this event. */
export function asks(event: StreamEvent): boolean {
  return questionsOf(event).length > 0;
}
