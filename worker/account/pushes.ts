/** Sends an account's notifications to the browsers and topics that want them. */
import type { PushKind } from '../../shared/api/push.ts';
import type { Env } from '../env.ts';
import { type LogFields, logEvent } from '../health/log.ts';
import { directoryOf } from '../objects.ts';
import type { StoredPush } from '../ports/account.ts';
import type { PushKeys } from '../ports/directory.ts';
import { placeOf } from '../push/address.ts';
import type { PushNews } from '../push/message.ts';
import { sendPush } from '../push/send.ts';
import { readPushes, savePush } from './push-statements.ts';
import type { AccountStore } from './statements.ts';

/** A notification is a hint: one that fails, or that a crash interrupts, is lost. */
export class Pushes {
  readonly #state: DurableObjectState;
  readonly #env: Env;
  readonly #store: AccountStore;

  constructor(state: DurableObjectState, env: Env, store: AccountStore) {
    this.#state = state;
    this.#env = env;
    this.#store = store;
  }

  /** To be called in the synchronous step that stores what happened. Returns at once. Skips what is not listed. */
  notify(kind: PushKind, conversationId: string): void {
    const { stored } = this.#store;
    const pushes = stored ? [...readPushes(stored)] : [];
    const wanted = pushes.filter(([, { kinds }]) => kinds[kind]);
    const conversation = this.#store.readConversation(conversationId);
    if (wanted.length === 0 || !conversation) return;
    const news = { kind, conversation, waiting: this.#store.countWaiting() };
    this.#state.waitUntil(this.#sendAll(news, wanted));
  }

  async #sendAll(news: PushNews, wanted: readonly [string, StoredPush][]): Promise<void> {
    try {
      const keys = await directoryOf(this.#env).pushKeys();
      await Promise.all(wanted.map(([session, push]) => this.#send(news, session, push, keys)));
    } catch (error) {
      this.#log('push_failed', news, { error });
    }
  }

  async #send(news: PushNews, session: string, push: StoredPush, keys: PushKeys): Promise<void> {
    const { service, endpoint } = placeOf(push.subscription);
    try {
      const status = await sendPush(this.#env, push, news, keys);
      this.#log(status < 300 ? 'push_sent' : 'push_failed', news, { service, status });
      if (service === 'web_push' && GONE.has(status)) this.#forget(session, endpoint);
    } catch (error) {
      this.#log('push_failed', news, { service, error });
    }
  }

  /** The session may have subscribed anew meanwhile. */
  #forget(session: string, endpoint: string): void {
    const { stored } = this.#store;
    const present = stored && readPushes(stored).get(session);
    if (present && placeOf(present.subscription).endpoint === endpoint) {
      savePush(stored, session, null);
    }
  }

  #log(
    event: 'push_sent' | 'push_failed',
    { kind, conversation }: PushNews,
    outcome: Pick<LogFields, 'service' | 'status' | 'error'>,
  ): void {
    const account = this.#state.id.name ?? '';
    logEvent(event, { account, conversation: conversation.id, operation: kind, ...outcome });
  }
}

/**
 * The browser's subscription has ended, for good (RFC 8030, section 7.3). A topic of ntfy never ends: it exists as soon
 * as somebody uses it. There 404 comes from a wrong address or proxy, 401 and 403 from a wrong token, which a person
 * repairs.
 */
const GONE: ReadonlySet<number> = new Set([404, 410]);
