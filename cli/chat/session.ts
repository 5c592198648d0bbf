/** One conversation as a terminal has it: followed, written to and cancelled. It knows nothing of the screen. */
import { setTimeout } from 'node:timers/promises';
import {
  type ChatInput,
  type ChatResponse,
  ClientError,
  type ConversationView,
  isPassing,
  type ReadEvent,
  type Sent,
  type UserMessage,
} from '../../client/index.ts';
import {
  type ImagePart,
  imagesOf,
  type MessageContent,
  textOf,
} from '../../shared/api/requests.ts';
import { openAsksIn } from '../../shared/shown/asks.ts';
import { isOver } from '../../shared/wire/fold.ts';
import type { SubagentAsk } from '../../shared/wire/subagents.ts';
import { type Chat, deviceName, placeOf, settingsOf } from './chat.ts';

/** A message that the server does not have yet. */
export interface UnsentMessage {
  readonly content: MessageContent;
  /** Why it was not taken yet; absent until the first try has failed. */
  why?: string;
  /** Gives it up. */
  readonly withdrawn: AbortController;
}

/** What can be taken back: it is not in an answer yet. */
export interface TakenBack {
  readonly text: string;
  readonly images: readonly ImagePart[];
}

/** Called after each change; with the event that made it, or null for a change of the connection or of what is unsent. */
export type OnChange = (event: ReadEvent | null) => void;

export class ChatSession {
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
  /** Of the message before: the first one decides in which conversation the others go on. */
  #sent: Promise<unknown> = Promise.resolve();

  /** Responses whose messages came back, before the stream says so. */
  readonly #takenBack = new Set<string>();

  constructor(chat: Chat, onChange: OnChange) {
    this.chat = chat;
    this.#onChange = onChange;
    if (chat.conversationId !== undefined) this.#follow(chat.conversationId);
  }

  /** The response that is in progress, or the newest one. */
  get current(): ChatResponse | undefined {
    return this.view?.responses.at(-1);
  }

  /** The bridge of the conversation, or of a new one; undefined where the server chooses. */
  get bridgeId(): string | undefined {
    const { chat, view } = this;
    return view?.bridgeId ?? chat.bridgeId ?? chat.own?.bridgeId;
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
  get queued(): readonly UserMessage[] {
    const begun = new Set(this.view?.responses.map(({ id }) => id));
    const { messages = [] } = this.view ?? {};
    return messages.filter(
      ({ steers, cancelled, responseId }) =>
        !steers && !cancelled && !begun.has(responseId) && !this.#takenBack.has(responseId),
    );
  }

  /** Messages that steer the newest answer and that its model has not read. */
  get steering(): readonly UserMessage[] {
    const { view, current } = this;
    if (!view || !current) return [];
    return view.messages.filter(
      ({ steers, responseId, afterSequence }) =>
        steers && responseId === current.id && afterSequence === undefined,
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
   * that runs, `queue` behind it. Rejects with a ClientError if the server refuses it: nothing was sent then. Undefined
   * if it was withdrawn.
   */
  async send(
    content: MessageContent,
    delivery: 'steer' | 'queue' = 'queue',
  ): Promise<Sent | undefined> {
    const message: UnsentMessage = { content, withdrawn: new AbortController() };
    this.unsent.push(message);
    this.#onChange(null);
    const sent = this.#sent.then(() => this.#deliver(message, delivery));
    this.#sent = sent.catch(() => {});
    try {
      return await sent;
    } finally {
      this.#drop(message);
    }
  }

  /** Takes the newest unanswered message back, unless it steers. Undefined if there is none. */
  async takeBack(): Promise<TakenBack | undefined> {
    const unsent = this.unsent.at(-1);
    if (unsent) {
      unsent.withdrawn.abort();
      this.#drop(unsent);
      return { text: textOf(unsent.content), images: imagesOf(unsent.content) };
    }
    const queued = this.queued.at(-1);
    if (!queued) return undefined;
    this.#takenBack.add(queued.responseId);
    try {
      return await this.#cancelQueued(queued);
    } catch (error) {
      this.#takenBack.delete(queued.responseId);
      throw error;
    }
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

  async #cancelQueued({ responseId, content, imageCount }: UserMessage): Promise<TakenBack> {
    const { client } = this.chat;
    const { items } = imageCount === undefined ? { items: [] } : await client.getImages(responseId);
    await client.cancel(responseId);
    const images = items.map(({ url }) => ({ type: 'image_url' as const, image_url: { url } }));
    return { text: content, images };
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
        if (event?.type === 'mode_update') this.chat.mode = event.ownMode ?? event.mode;
        this.#onChange(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ClientError)) throw error;
      this.problem = error;
      this.#onChange(null);
    }
  }

  #drop(message: UnsentMessage): void {
    const at = this.unsent.indexOf(message);
    if (at >= 0) this.unsent.splice(at, 1);
    this.#onChange(null);
  }

  async #deliver(message: UnsentMessage, delivery: 'steer' | 'queue'): Promise<Sent | undefined> {
    const { client, conversationId, firstKey } = this.chat;
    const signal = AbortSignal.any([this.#ended.signal, message.withdrawn.signal]);
    const isFirst = conversationId === undefined;
    const idempotencyKey = (isFirst ? firstKey : undefined) ?? crypto.randomUUID();
    // Made once: the person may be in another conversation at the next try.
    const input = this.#input(message.content, delivery);
    const onFailure = ({ message: why }: ClientError) => {
      message.why = why;
      this.#onChange(null);
    };
    try {
      const send = () => client.sendMessage(input, { idempotencyKey, signal });
      const sent = await insist(send, signal, onFailure);
      if (this.chat.conversationId === undefined) this.#follow(sent.conversationId);
      return sent;
    } catch (error) {
      if (!signal.aborted) throw error;
      return undefined;
    }
  }

  #input(content: MessageContent, delivery: 'steer' | 'queue'): ChatInput {
    const { chat } = this;
    const { conversationId, mode } = chat;
    const messages: ChatInput['messages'] = [{ role: 'user', content }];
    // A message that steers takes the settings of the answer that it steers; the server refuses others.
    if (delivery === 'steer' && conversationId !== undefined)
      return { messages, device: deviceName(), conversationId, delivery };
    return { messages, ...settingsOf(chat), ...placeOf(chat), mode };
  }
}

/** Repeats a request while the server cannot be reached. Rejects with its refusal, and with the signal's reason. */
export async function insist<T>(
  request: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: ClientError) => void = () => {},
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ClientError) || !isPassing(error)) throw error;
      onFailure(error);
    }
    await pause(RETRY_MS, signal);
  }
}

/** Exchanges that are read when a conversation is opened. */
const SHOWN_EXCHANGES = 20;

/** Before a request that can succeed later is made again. */
const RETRY_MS = 2_000;

/** Never rejects: it ends early with the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}
