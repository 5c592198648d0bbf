/** Asks the person the questions of one turn, one after the other. */
import type { ReadEvent } from '../../shared/wire/events.ts';
import { askKeyOf } from '../../shared/wire/fold.ts';
import { SubagentAsk } from '../../shared/wire/subagents.ts';
import { askApproval } from './approvals.ts';
import { type Chat, sayWhereToAnswer } from './chat.ts';
import { askClarification } from './clarifications.ts';

/** Asks only for the answers: the screen already shows the questions. */
export class Questions {
  readonly #chat: Chat;
  /** Those that wait, with what withdraws each. */
  readonly #open = new Map<string, AbortController>();
  /** The calls that were answered here. */
  readonly #answered = new Set<string>();
  #asked: Promise<void> = Promise.resolve();

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  /** `asks`: all that waits now. One that waits no more is withdrawn; a new one is asked after the ones before it. */
  update(asks: readonly SubagentAsk[]): void {
    const waiting = new Map(asks.map((ask) => [askKeyOf(ask), ask]));
    for (const [key, withdrawn] of this.#open) {
      if (waiting.has(key)) continue;
      withdrawn.abort();
      this.#open.delete(key);
    }
    for (const [key, ask] of waiting) {
      if (this.#open.has(key)) continue;
      const withdrawn = new AbortController();
      this.#open.set(key, withdrawn);
      // A snapshot has the questions of subagents as the server sent them.
      const asked = SubagentAsk.safeParse(ask).data;
      if (asked) this.#asked = this.#asked.then(() => this.#ask(asked, withdrawn.signal));
    }
  }

  /** The event as this terminal shows it: an answer that was given here comes from here. */
  placed(event: ReadEvent): ReadEvent {
    const isHere = event.type === 'approval_resolved' && this.#answered.has(event.callId);
    return isHere && event.by === 'device' ? { ...event, by: 'here' } : event;
  }

  /** Asks nothing more of what waits now. */
  withdrawAll(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
  }

  /** Withdraws all open questions, and waits until the terminal is free again. */
  async end(): Promise<void> {
    this.withdrawAll();
    await this.#asked;
  }

  /** A subagent's question is answered at the subagent's conversation. */
  async #ask(ask: SubagentAsk, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { conversationId } = ask;
    const there = { ...this.#chat, conversationId };
    if (ask.kind === 'approval') {
      await askApproval(there, ask, signal, () => this.#answered.add(ask.callId));
      return;
    }
    const { responseId, ...asked } = ask;
    const isOwn = conversationId === this.#chat.conversationId;
    const answered = await askClarification(there, isOwn ? asked : ask, signal);
    if (answered === 'open' && !signal.aborted) sayWhereToAnswer(there);
  }
}
