/** The stream of an account: sends each change to the readers that follow, and to a reader that returns what it missed. */
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import { Followers, type Following, type Outgoing } from '../conversation/tape/followers.ts';
import type { Env } from '../env.ts';
import { tunnelOf } from '../objects.ts';
import type { KnownBridge } from '../ports/account.ts';
import type { AccountStore } from './statements.ts';

export class AccountReader {
  readonly #state: DurableObjectState;
  readonly #env: Env;
  readonly #store: AccountStore;
  readonly #followers: Followers;
  #isLooking = false;

  constructor(state: DurableObjectState, env: Env, store: AccountStore) {
    this.#state = state;
    this.#env = env;
    this.#store = store;
    this.#followers = new Followers(state);
  }

  /** To be called in the synchronous step that stores the change. `id`: a conversation or a bridge. */
  changed(id: string): void {
    const number = this.#store.changes.add(id);
    if (number !== null) this.#followers.send([this.#outgoing(id, number)]);
  }

  /** Opens a socket that gets what changed after the cursor, and then each change. */
  attach(following: Following, cursor: number): Response {
    const { changes } = this.#store;
    changes.begin();
    const missed = changes.after(cursor)?.map(({ id, number }) => this.#outgoing(id, number));
    const reset = { event: RESET, position: changes.newest, responseId: null };
    const { 0: client, 1: server } = new WebSocketPair();
    this.#followers.attach(server, following, missed ?? [reset]);
    this.#state.waitUntil(this.#lookAtBridges());
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Closes the sockets of a session for good, or for null all. */
  endSession(session: string | null): void {
    this.#followers.endSession(session);
  }

  /** Forgets a closed socket. */
  detach(socket: WebSocket): void {
    this.#followers.detach(socket);
  }

  #outgoing(id: string, position: number): Outgoing {
    return { event: this.#store.readEvent(id), position, responseId: null };
  }

  /**
   * A bridge can vanish without a close, or its tunnel with the close, and only the tunnel knows when its last sign of
   * life was. So each reader that attaches has all tunnels asked, but for those of bridges that have just
   * connected: the account knows of them before they are welcomed.
   */
  async #lookAtBridges(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const isNew = ({ connected, connectedAtMs }: KnownBridge) =>
      connected && Math.abs(Date.now() - connectedAtMs) < TUNNEL_LIMITS.deadMs;
    const looks = this.#store.readBridges().filter((bridge) => !isNew(bridge));
    await Promise.allSettled(looks.map(({ id }) => this.#lookAtBridge(id)));
    this.#isLooking = false;
  }

  async #lookAtBridge(id: string): Promise<void> {
    const told = this.#connectionOf(id);
    const status = await tunnelOf(this.#env, id).status(this.#state.id.name ?? '');
    // What the tunnel reported meanwhile is newer.
    if (this.#connectionOf(id) !== told) return;
    if (this.#store.saveConnected(id, status?.connected ?? false)) this.changed(id);
  }

  /** Text that differs for each connection, and after its end. */
  #connectionOf(id: string): string {
    return JSON.stringify(this.#store.readBridges().find((bridge) => bridge.id === id));
  }
}

const RESET = { type: 'reset' } as const;
