/** The account as the page shows it: its conversations, its machines, what waits for a person. One stream keeps it true. */
import type { BridgeInfo, ConversationInfo, KeptSession, PageClient } from '../../client/index.ts';
import { ClientError, isPassing } from '../../client/index.ts';
import type { ApprovalList, ModelList } from '../../shared/api/listings.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { DAY } from '../../shared/units.ts';
import { Live } from '../live.ts';
import { unsentOf } from '../session/kept.ts';
import type { Approvers } from './approvers.ts';
import { Outbox, RETRY_MS } from './outbox.ts';
import { forgetSeen, keepSeenList, readSeenList, seenConversations } from './seen.ts';

/** The keys of {@link Live} that an account touches. */
export const LIST = 'list';
export const INBOX = 'inbox';
export const LINK = 'link';

/** Conversations of the list that are there without a network. */
const SEEN = 50;

/** How many approvals and questions of the conversation and its subagents wait for a person. */
export function waitingIn({ waiting }: ConversationInfo): number {
  return waiting.approvals + waiting.questions;
}

/** A skill of a machine in the list behind `/`. */
interface SkillLine {
  readonly name: string;
  readonly help: string;
  /** What it puts into the field. */
  readonly text?: string;
}

export class PageAccount {
  readonly client: PageClient;
  readonly session: KeptSession;
  readonly live = new Live();
  readonly outbox: Outbox;
  readonly conversations = new Map<string, ConversationInfo>();
  /** For the next page of the list; null on the last one. */
  cursor: string | null = null;
  bridges: readonly BridgeInfo[] = [];
  /** The modes that workspaces define, by the bridge, as they were last read. */
  readonly modes = new Map<string, readonly string[]>();
  /** What stands behind `/` for the skills of a bridge's machine, likewise. */
  readonly skills = new Map<string, readonly SkillLine[]>();
  models: ModelList = { items: [], passesThrough: false };
  waiting: ApprovalList = { items: [], questions: [] };
  /** Approvals that a person has answered here, by their nonce. */
  readonly answered = new Set<string>();
  /** Calls that a person has allowed here. */
  readonly allowed = new Set<string>();
  /** Whether the server has ever answered this session. */
  wasLive = false;
  link: 'connecting' | 'live' | 'lost' = 'connecting';
  /** A machine's owner has enrolled them; the page of a server elsewhere has a passkey at most. */
  approvers: Approvers;
  #isReadingInbox = false;
  #isInboxOld = false;

  /** `session` is the one whose tokens `client` sends. */
  constructor(client: PageClient, session: KeptSession, approvers: Approvers) {
    this.client = client;
    this.session = session;
    this.approvers = approvers;
    this.outbox = new Outbox(client, this.live, unsentOf(session.account));
  }

  /** Until the signal aborts, or the server refuses this session: then rejects with a ClientError. */
  async follow(signal: AbortSignal): Promise<void> {
    for (const name of ['online', 'offline'])
      addEventListener(name, () => this.#linkChanged(), { signal });
    void this.outbox.resume();
    await this.#showSeen();
    for (;;) {
      try {
        return await this.#followOnce(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ClientError && isPassing(error))) throw error;
      }
      this.#setLink('lost');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** Rejects also when a list could not be read. */
  async #followOnce(signal: AbortSignal): Promise<void> {
    let attempts = 0;
    const onReconnect = () => {
      this.#setLink('lost');
      attempts += 1;
      if (attempts > 1 || !this.wasLive) void this.#readWithoutStream(signal);
    };
    for await (const { event } of this.client.followAccount({ signal, onReconnect })) {
      attempts = 0;
      this.#setLink('live');
      switch (event.type) {
        case 'reset':
          await this.#read(signal);
          break;
        case 'conversation':
          this.#take(event.conversation);
          break;
        case 'conversation_deleted':
          this.forget(event.conversationId);
          break;
        case 'bridge':
          await this.#takeBridge(event.bridge, signal);
      }
    }
  }

  /** Starts what a person asked for. A refusal is shown because nothing catches it (parts/refusals.tsx). */
  run(work: () => Promise<unknown>): void {
    void work();
  }

  /** The conversations that are not archived: who waits for a person first, then the newest. */
  get listed(): ConversationInfo[] {
    const waits = (item: ConversationInfo) => waitingIn(item) > 0;
    return [...this.conversations.values()]
      .filter(({ archived }) => !archived)
      .sort(
        (one, other) =>
          Number(waits(other)) - Number(waits(one)) || other.updated.localeCompare(one.updated),
      );
  }

  /** How many approvals and questions wait. */
  get waitingCount(): number {
    return this.waiting.items.length + this.waiting.questions.length;
  }

  bridgeOf(id: string | null): BridgeInfo | undefined {
    return this.bridges.find((bridge) => bridge.id === id);
  }

  /** Unknown while this browser does not hear of it. */
  stateOf({ connected }: BridgeInfo): 'online' | 'offline' | 'unknown' {
    if (this.link === 'lost' || !navigator.onLine) return 'unknown';
    return connected ? 'online' : 'offline';
  }

  /** The folder that a second program has taken over within the last day. */
  get takenOver(): string | undefined {
    const isRecent = ({ replaced = '' }: BridgeInfo) => Date.now() - Date.parse(replaced) < DAY;
    const bridge = this.bridges.find(isRecent);
    return bridge && inOneLine(bridge.workspacePath);
  }

  /** For what a machine has enrolled of this browser. */
  approveBy(enrolled: Approvers): void {
    this.approvers = { ...this.approvers, ...enrolled };
    this.live.touch(INBOX);
  }

  /** For a conversation that is deleted. */
  forget(conversationId: string): void {
    this.conversations.delete(conversationId);
    void forgetSeen(conversationId);
    this.#changed();
  }

  async readMore(): Promise<void> {
    if (this.cursor === null) return;
    const { items, nextCursor } = await this.client.listConversations({ cursor: this.cursor });
    this.cursor = nextCursor;
    for (const conversation of items) this.conversations.set(conversation.id, conversation);
    this.live.touch(LIST);
  }

  /** Reads what waits again. Several calls at once read once more. */
  async readInbox(signal?: AbortSignal): Promise<void> {
    this.#isInboxOld = true;
    if (this.#isReadingInbox) return;
    this.#isReadingInbox = true;
    try {
      while (this.#isInboxOld) {
        this.#isInboxOld = false;
        this.waiting = await this.client.listApprovals(signal);
        this.live.touch(INBOX);
      }
    } catch (error) {
      // The stream says what is wrong; a reset after it reads again.
      if (!(error instanceof ClientError)) throw error;
    } finally {
      this.#isReadingInbox = false;
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { client } = this;
    const [list, bridges, models] = await Promise.all([
      client.listConversations({}, signal),
      client.listBridges(signal),
      client.listModels(signal),
      this.readInbox(signal),
    ]);
    this.conversations.clear();
    for (const conversation of list.items) this.conversations.set(conversation.id, conversation);
    this.cursor = list.nextCursor;
    this.bridges = bridges.items;
    this.models = models;
    this.#changed();
    void this.#forgetDeleted(signal);
  }

  /** For a proxy that holds the stream back, and lets answers pass. */
  async #readWithoutStream(signal: AbortSignal): Promise<void> {
    await this.#read(signal).catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof ClientError)) throw error;
    });
  }

  #take(conversation: ConversationInfo): void {
    const known = this.conversations.get(conversation.id);
    this.conversations.set(conversation.id, conversation);
    this.#changed();
    if ((known && waitingIn(known) > 0) || waitingIn(conversation) > 0) void this.readInbox();
  }

  async #takeBridge(
    news: Pick<BridgeInfo, 'id' | 'connected' | 'lastConnected'>,
    signal: AbortSignal,
  ): Promise<void> {
    const known = this.bridgeOf(news.id);
    // One that connects may have taken the place of another process.
    if (known && !news.connected) Object.assign(known, news);
    else this.bridges = (await this.client.listBridges(signal)).items;
    this.live.touch(LIST);
  }

  /** What this browser last saw, until the server answers. */
  async #showSeen(): Promise<void> {
    const seen = await readSeenList(this.session.account);
    if (!seen || this.link === 'live') return;
    for (const conversation of seen.conversations)
      this.conversations.set(conversation.id, conversation);
    this.bridges = seen.bridges;
    this.live.touch(LIST);
  }

  /** What was deleted while this browser was away. A conversation of a later page of the list is looked up. */
  async #forgetDeleted(signal: AbortSignal): Promise<void> {
    const unlisted = (await seenConversations()).filter((id) => !this.conversations.has(id));
    for (const id of unlisted) {
      await this.client.getConversation(id, { limit: 1 }, signal).catch(async (error: unknown) => {
        if (error instanceof ClientError && error.status === 404) await forgetSeen(id);
      });
    }
  }

  #changed(): void {
    this.live.touch(LIST);
    void keepSeenList(this.session.account, {
      conversations: this.listed.slice(0, SEEN),
      bridges: this.bridges,
    });
  }

  #setLink(link: PageAccount['link']): void {
    this.wasLive ||= link === 'live';
    if (this.link === link) return;
    this.link = link;
    this.#linkChanged();
  }

  /** Also what is known of machines. */
  #linkChanged(): void {
    this.live.touch(LINK);
    this.live.touch(LIST);
  }
}
