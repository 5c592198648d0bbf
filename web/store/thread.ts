/** One conversation as the page shows it, followed until it is left. */
import {
  type ClientError,
  type ConversationView,
  prependPart,
  type ReadEvent,
  type TapeEvent,
} from '../../client/index.ts';
import type { Account } from './account.ts';
import { forgetSeen, keepSeen, readSeen } from './seen.ts';

/** The keys of Live that a thread touches. */
export const THREAD = 'thread';
export const responseKey = (responseId: string) => `response ${responseId}`;
export const documentKey = (responseId: string, documentId: string) =>
  `document ${responseId} ${documentId}`;

/** Exchanges that are read at first, and with each earlier part. */
const PART = 20;

/** Who answered an approval, and how. */
export type Answered = Pick<
  Extract<TapeEvent, { type: 'approval_resolved' }>,
  'decision' | 'by' | 'scope'
>;

export class Thread {
  readonly id: string;
  readonly account: Account;
  /** Changed in place; absent until it was read. */
  view: ConversationView | undefined;
  /** Why there is nothing more to see. */
  problem: ClientError | undefined;
  isLost = false;
  /** How the approvals ended that this page saw end, by the key of their document. */
  readonly answered = new Map<string, Answered>();

  constructor(account: Account, id: string) {
    this.account = account;
    this.id = id;
  }

  /** Until the signal aborts. Never rejects: a refusal is the {@link problem}. */
  async follow(signal: AbortSignal): Promise<void> {
    const { client, live } = this.account;
    const onReconnect = () => this.#setLost(true);
    await this.#showSeen();
    try {
      const watched = client.watchConversation(this.id, { signal, onReconnect, limit: PART });
      for await (const { view, event } of watched) {
        this.view = view;
        this.#setLost(false);
        this.#noteAnswer(event);
        this.#show(event);
        if (event === null || event.type === 'done')
          void keepSeen(this.account.session.account, view);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.problem = error as ClientError;
      this.view = undefined;
      void forgetSeen(this.id);
      live.touch(THREAD);
    }
  }

  async #showSeen(): Promise<void> {
    const seen = await readSeen(this.account.session.account, this.id);
    if (!seen || this.view) return;
    this.view = seen;
    this.account.live.touch(THREAD);
  }

  async readEarlier(): Promise<void> {
    const { view } = this;
    if (!view?.earlier) return;
    const part = await this.account.client.getConversation(this.id, {
      before: view.earlier,
      limit: PART,
    });
    prependPart(view, part);
    this.account.live.touch(THREAD);
  }

  /** The response that is in progress, or the newest one. */
  get current() {
    return this.view?.responses.at(-1);
  }

  get isBusy(): boolean {
    const { status } = this.current ?? {};
    return status === 'streaming' || status === 'waiting' || status === 'queued';
  }

  #noteAnswer(event: ReadEvent | null): void {
    if (event?.type !== 'approval_resolved' || !this.current) return;
    this.answered.set(documentKey(this.current.id, event.documentId), event);
  }

  #setLost(isLost: boolean): void {
    if (this.isLost === isLost) return;
    this.isLost = isLost;
    this.account.live.touch(THREAD);
  }

  /** A delta touches its document alone. */
  #show(event: ReadEvent | null): void {
    const { current, account } = this;
    if (current && (event?.type === 'content_delta' || event?.type === 'tool_output'))
      return account.live.grow(documentKey(current.id, event.documentId));
    for (const key of this.#keysOf(event)) account.live.touch(key);
  }

  /** What shows the event, which can close the last document, or the one before it. */
  #keysOf(event: ReadEvent | null): string[] {
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
