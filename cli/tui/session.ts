/** One conversation as a terminal has it: followed, written to and cancelled. It knows nothing of the screen. */
import { hostname } from 'node:os';
import {
  type ChatInput,
  type ChatResponse,
  ClientError,
  type ConversationView,
  type ReadEvent,
} from '../../client/index.ts';
import { type MessageContent, textOf } from '../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { openAsksIn } from '../../shared/shown/asks.ts';
import { isOver } from '../../shared/wire/fold.ts';
import type { SubagentAsk } from '../../shared/wire/subagents.ts';
import type { Chat } from '../chat/chat.ts';

/** A message that the server does not have yet. */
export interface UnsentMessage {
  readonly content: MessageContent;
  /** Why it was not taken yet; absent until the first try has failed. */
  why?: string;
}

/** Called after each change; with the event that made it, or null for a change of the connection or of what is unsent. */
export type OnChange = (event: ReadEvent | null) => void;

export class Session {
  readonly chat: Chat;
  readonly #onChange: OnChange;
  /** Ends the following of the conversation. */
  #following = new AbortController();
  /** Ends everything: nothing more is sent. */
  readonly #ended = new AbortController();
  /** Changed in place; absent until the conversation was read, and before the first message. */
  view: ConversationView | undefined;
  /** When the connection was lost (Unix milliseconds); undefined while it holds. */
  lostMs: number | undefined;
  /** Why the conversation cannot be followed any more. */
  problem: ClientError | undefined;
  /** In the order in which they were written. */
  readonly unsent: UnsentMessage[] = [];

  constructor(chat: Chat, onChange: OnChange) {
    this.chat = chat;
    this.#onChange = onChange;
    if (chat.conversationId !== undefined) this.#follow(chat.conversationId);
  }

  /** The response that is in progress, or the newest one. */
  get current(): ChatResponse | undefined {
    return this.view?.responses.at(-1);
  }

  get isBusy(): boolean {
    const { current } = this;
    return this.unsent.length > 0 || (current !== undefined && !isOver(current.status));
  }

  /** What waits for the person, the oldest first. */
  get asks(): readonly SubagentAsk[] {
    const { view, current } = this;
    return view && current ? openAsksIn(view, current) : [];
  }

  /** Messages that wait until the answers before them are over. */
  get queued(): readonly ConversationView['messages'][number][] {
    const begun = new Set(this.view?.responses.map(({ id }) => id));
    const { messages = [] } = this.view ?? {};
    return messages.filter(
      (each) => !each.steers && !each.cancelled && !begun.has(each.responseId),
    );
  }

  /** Goes on in another conversation; undefined for a new one, which the next message begins. */
  open(conversationId: string | undefined): void {
    this.#following.abort();
    this.#following = new AbortController();
    this.chat.conversationId = conversationId;
    this.view = undefined;
    this.problem = undefined;
    this.lostMs = undefined;
    if (conversationId !== undefined) this.#follow(conversationId);
    this.#onChange(null);
  }

  /**
   * Sends a message; while the server cannot be reached, again and again under one key. `steer` puts it into the answer
   * that runs, `queue` behind it. Rejects with a ClientError if the server refuses it: nothing was sent then.
   */
  async send(content: MessageContent, delivery: 'steer' | 'queue' = 'queue'): Promise<void> {
    const message: UnsentMessage = { content };
    this.unsent.push(message);
    this.#onChange(null);
    try {
      const { conversationId } = await this.#insist(message, delivery);
      if (this.chat.conversationId === undefined) this.#follow(conversationId);
    } finally {
      this.unsent.splice(this.unsent.indexOf(message), 1);
      this.#onChange(null);
    }
  }

  /** Takes a message back that waits in the queue, and returns its text. */
  async takeBack(responseId: string): Promise<string> {
    const message = this.queued.find((each) => each.responseId === responseId);
    await this.chat.client.cancel(responseId);
    return message?.content ?? '';
  }

  /** Cancels the answer that runs. The stream then says how it ended. */
  async cancel(): Promise<void> {
    const { current } = this;
    if (current && !isOver(current.status)) await this.chat.client.cancel(current.id);
  }

  /** Follows nothing more, and gives up what is unsent. */
  end(): void {
    this.#following.abort();
    this.#ended.abort();
  }

  #follow(conversationId: string): void {
    this.chat.conversationId = conversationId;
    void this.#watch(conversationId, this.#following.signal);
  }

  async #watch(conversationId: string, signal: AbortSignal): Promise<void> {
    const onReconnect = (error: unknown) => {
      // A stream that has only reached its age limit ends without an error.
      if (error === undefined) return;
      this.lostMs ??= Date.now();
      this.#onChange(null);
    };
    const options = { signal, onReconnect, limit: SHOWN_EXCHANGES };
    try {
      for await (const { view, event } of this.chat.client.watchConversation(
        conversationId,
        options,
      )) {
        this.view = view;
        this.lostMs = undefined;
        this.#onChange(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ClientError)) throw error;
      this.problem = error;
      this.#onChange(null);
    }
  }

  async #insist(message: UnsentMessage, delivery: 'steer' | 'queue') {
    const idempotencyKey = crypto.randomUUID();
    const { signal } = this.#ended;
    for (;;) {
      try {
        const input = this.#input(message.content, delivery);
        return await this.chat.client.sendMessage(input, { idempotencyKey, signal });
      } catch (error) {
        if (!(error instanceof ClientError) || !isPassing(error)) throw error;
        message.why = error.message;
        this.#onChange(null);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      signal.throwIfAborted();
    }
  }

  #input(content: MessageContent, delivery: 'steer' | 'queue'): ChatInput {
    const { chat } = this;
    const { conversationId, bridgeId, deleteAfterHours, model, maxTurns, questions, mode } = chat;
    const isBegun = conversationId !== undefined;
    return {
      messages: [{ role: 'user', content }],
      mode,
      device: hostname().slice(0, REQUEST_LIMITS.maxNameChars),
      ...(isBegun && { conversationId }),
      ...(delivery === 'steer' && isBegun && { delivery }),
      ...(!isBegun && bridgeId !== undefined && { bridgeId }),
      ...(!isBegun && deleteAfterHours !== undefined && { deleteAfterHours }),
      ...(model !== undefined && { model }),
      ...(maxTurns !== undefined && { budget: { maxTurns } }),
      ...(questions && { questions }),
      ...(chat.withReasoning && { include: ['reasoning' as const] }),
    };
  }
}

/** Exchanges that are read when a conversation is opened. */
const SHOWN_EXCHANGES = 20;

/** Before a message that can succeed later is sent again. */
const RETRY_MS = 2_000;

/** Whether the same request can succeed later: no answer, an answer of something on the way, or a busy server. */
export function isPassing({ code, status = 0 }: ClientError): boolean {
  return code === 'UNREACHABLE' || code === 'BAD_ANSWER' || status >= 500 || status === 429;
}

/** The text of a message, for the composer. */
export function wordsOf({ content }: UnsentMessage): string {
  return textOf(content);
}
