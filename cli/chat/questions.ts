/** Asks the person the questions of one turn, one after the other. */
import type { ReadEvent, StreamEvent } from '../../shared/wire/events.ts';
import { askKeyOf, asksOf } from '../../shared/wire/fold.ts';
import type { SubagentAsk } from '../../shared/wire/subagents.ts';
import { type AskingEvent, questionOf } from '../render/shown.ts';
import { askApproval } from './approvals.ts';
import { type Chat, sayWhereToAnswer } from './chat.ts';
import { askClarification } from './clarifications.ts';

/** A question, with the document that shows it. A subagent's question is answered at the subagent's conversation. */
interface ShownQuestion {
  readonly key: string;
  readonly documentId: string;
  readonly conversationId: string | undefined;
  readonly event: AskingEvent;
}

/** A question that waits for its turn, or for the person. */
interface QueuedQuestion {
  readonly question: ShownQuestion;
  readonly withdrawn: AbortController;
}

/** Asks only for the answers: the screen already shows the questions. */
export class Questions {
  readonly #chat: Chat;
  readonly #open = new Map<string, QueuedQuestion>();
  /** The calls that were answered here. */
  readonly #answered = new Set<string>();
  #asked: Promise<void> = Promise.resolve();

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  /** Queues the questions of an event. Each is asked when the ones before it are settled. */
  askFor(event: StreamEvent): void {
    for (const question of questionsOf(event)) {
      if (this.#open.has(question.key)) continue;
      const withdrawn = new AbortController();
      this.#open.set(question.key, { question, withdrawn });
      this.#asked = this.#asked.then(() => this.#ask(question, withdrawn.signal));
    }
  }

  /** Withdraws the questions that are answered elsewhere or that the run no longer waits for. */
  withdrawAnswered(event: StreamEvent): void {
    switch (event.type) {
      case 'approval_resolved': // All questions about a call: each has its own nonce.
        return this.#withdraw(({ key }) => key.startsWith(event.callId));
      case 'subagent_answered':
        return this.#withdraw(({ key }) => key === event.key);
      case 'document_end':
        return this.#withdraw(({ documentId }) => documentId === event.documentId);
      case 'snapshot': {
        const waiting = new Set(questionsOf(event).map(({ key }) => key));
        return this.#withdraw(({ key }) => !waiting.has(key));
      }
    }
  }

  /** The event as this terminal shows it: an answer that was given here comes from here. */
  placed(event: ReadEvent): ReadEvent {
    const isHere = event.type === 'approval_resolved' && this.#answered.has(event.callId);
    return isHere && event.by === 'device' ? { ...event, by: 'here' } : event;
  }

  withdrawAll(): void {
    this.#withdraw(() => true);
  }

  /** Withdraws all open questions, and waits until the terminal is free again. */
  async end(): Promise<void> {
    this.withdrawAll();
    await this.#asked;
  }

  async #ask(
    { event, conversationId = this.#chat.conversationId }: ShownQuestion,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const there = { ...this.#chat, conversationId };
    if (event.type === 'approval_request') {
      await askApproval(there, event, signal, () => this.#answered.add(event.callId));
      return;
    }
    const answered = await askClarification(there, event, signal);
    if (answered === 'open' && !signal.aborted) sayWhereToAnswer(there);
  }

  #withdraw(isOver: (question: ShownQuestion) => boolean): void {
    for (const { question, withdrawn } of this.#open.values()) {
      if (isOver(question)) withdrawn.abort();
    }
  }
}

/** The question that an event asks, or the open questions of a snapshot's documents. */
function questionsOf(event: StreamEvent): ShownQuestion[] {
  if (event.type === 'approval_request' || event.type === 'clarification_request') {
    return [ownQuestion(event)];
  }
  if (event.type === 'subagent_ask') return [questionOfSubagent(event.documentId, event.ask)];
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return [];
  return event.snapshot.response.documents.flatMap((document) => {
    const own = questionOf(document);
    const below = asksOf(document.metadata).map((one) => questionOfSubagent(document.id, one));
    return own ? [ownQuestion(own), ...below] : below;
  });
}

function ownQuestion(event: AskingEvent): ShownQuestion {
  const { documentId } = event;
  const key = event.type === 'approval_request' ? `${event.callId} ${event.nonce}` : documentId;
  return { key, documentId, conversationId: undefined, event };
}

function questionOfSubagent(documentId: string, one: SubagentAsk): ShownQuestion {
  const { conversationId } = one;
  const event: ShownQuestion['event'] =
    one.kind === 'approval'
      ? { ...one, type: 'approval_request' }
      : { ...one, type: 'clarification_request' };
  return { key: askKeyOf(one), documentId, conversationId, event };
}

/** Whether the run waits for a person after this event. */
export function asks(event: StreamEvent): boolean {
  return questionsOf(event).length > 0;
}
