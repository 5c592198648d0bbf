/** One conversation as the page shows it, followed until it is left. */
import {
  type ClientError,
  type ConversationView,
  dropEarlier,
  prependPart,
  type ReadEvent,
} from '../../client/index.ts';
import { keptOf } from './kept-exchanges.ts';
import type { ThreadHost } from './thread-host.ts';

/** The keys of Live that a thread touches. */
export const THREAD = 'thread';
export const responseKey = (responseId: string) => `response ${responseId}`;
export const documentKey = (responseId: string, documentId: string) =>
  `document ${responseId} ${documentId}`;

/** Exchanges that are read at first, and with each earlier part. */
const PART = 20;

/** An event that names its document or its response, or has no other place than the current response. */
type PlacedEvent = Extract<
  ReadEvent,
  | { documentId: string }
  | { responseId: string }
  | {
      type:
        | 'message'
        | 'response_start'
        | 'response_model'
        | 'document_start'
        | 'conversation_update'
        | 'snapshot'
        | 'heartbeat'
        | 'unknown';
    }
>;

export class Thread {
  readonly id: string;
  readonly host: ThreadHost;
  /** Changed in place; absent until it was read. */
  view: ConversationView | undefined;
  /** Why there is nothing more to see. */
  problem: ClientError | undefined;
  isLost = false;
  /** Whether the reader follows the end. */
  isAtEnd = true;

  constructor(host: ThreadHost, id: string) {
    this.host = host;
    this.id = id;
  }

  /** Until the signal aborts. Never rejects: a refusal is the {@link problem}. */
  async follow(signal: AbortSignal): Promise<void> {
    const { client, live, seen } = this.host;
    const onReconnect = () => this.#setLost(true);
    await this.#showSeen();
    try {
      const watched = client.watchConversation(this.id, { signal, onReconnect, limit: PART });
      for await (const { view, event } of watched) {
        this.view = view;
        this.#setLost(false);
        if (this.isAtEnd && event?.type === 'response_start')
          dropEarlier(view, keptOf(view.responses));
        this.#show(event);
        if (event === null || event.type === 'done') void seen?.keep(view);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.problem = error as ClientError;
      this.view = undefined;
      void seen?.forget(this.id);
      live.touch(THREAD);
    }
  }

  async #showSeen(): Promise<void> {
    const seen = await this.host.seen?.read(this.id);
    if (!seen || this.view) return;
    this.view = seen;
    this.host.live.touch(THREAD);
  }

  async readEarlier(): Promise<void> {
    const { view } = this;
    if (!view?.earlier) return;
    const part = await this.host.client.getConversation(this.id, {
      before: view.earlier,
      limit: PART,
    });
    prependPart(view, part);
    this.host.live.touch(THREAD);
  }

  /** The response that is in progress, or the newest one. */
  get current() {
    return this.view?.responses.at(-1);
  }

  /** Whether a subagent works here: it takes no messages, and its parent can undo what it changed. */
  get isSubagent(): boolean {
    return this.view?.parent !== undefined;
  }

  get isBusy(): boolean {
    const { status } = this.current ?? {};
    return status === 'streaming' || status === 'waiting' || status === 'queued';
  }

  #setLost(isLost: boolean): void {
    if (this.isLost === isLost) return;
    this.isLost = isLost;
    this.host.live.touch(THREAD);
  }

  /** A delta touches its document alone. */
  #show(event: ReadEvent | null): void {
    const { current, host } = this;
    if (current && (event?.type === 'content_delta' || event?.type === 'tool_output'))
      return host.live.grow(documentKey(current.id, event.documentId));
    for (const key of this.#keysOf(event)) host.live.touch(key);
  }

  /** What shows the event, which can close the last document, or the one before it. */
  #keysOf(event: PlacedEvent | null): string[] {
    const { current } = this;
    if (event === null || current === undefined) return [THREAD];
    const { id: responseId } = current;
    const closing = current.documents.slice(-2).map(({ id }) => documentKey(responseId, id));
    const named = 'documentId' in event ? [event.documentId] : [];
    const place = 'responseId' in event ? event.responseId : responseId;
    const documents = named.map((id) => documentKey(place, id));
    return [THREAD, responseKey(place), ...documents, ...closing];
  }
}
