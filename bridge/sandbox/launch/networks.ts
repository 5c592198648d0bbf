/**
 * The networks that commands share: one for each conversation, with a loopback interface and nothing else, so that a
 * conversation's commands reach its servers and nothing outside does.
 */
import { closeSync, openSync } from 'node:fs';
import type { Dialer } from '../../terminal/process-book.ts';
import type { CommandUser } from '../account.ts';
import { fromText } from '../byte-path.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Bubblewrap } from './bubblewrap.ts';
import { openDialer } from './dialer.ts';
import { type Door, type InsideNetwork, openDoor } from './door.ts';
import { type Entry, startHolder } from './holder.ts';

/**
 * A process may join a network only from a user namespace above it, while bases come and go. So one user namespace is
 * above all bases and networks. No program runs in it, and no command keeps rights over any network: each command makes
 * a user namespace of its own. All are held by descriptor, without a process.
 */
export class Networks implements Disposable {
  /** Enters the user namespace above all. */
  readonly entry: Entry;
  readonly #account: CommandUser;
  readonly #file: string;
  /** By their conversations, the one used last at the end. */
  readonly #networks = new Map<string, HeldNetwork>();

  private constructor(account: CommandUser, file: string, entry: Entry) {
    this.#account = account;
    this.#file = file;
    this.entry = entry;
  }

  /** Undefined where no namespace can be entered: then each command has a network of its own. */
  static async open(
    account: CommandUser,
    { file, nsenter }: Bubblewrap,
  ): Promise<Networks | undefined> {
    if (nsenter === undefined) return undefined;
    try {
      using holder = await startHolder(account.prefix, file, PLAIN.map(fromText));
      const user = openSync(`/proc/${holder.pid}/ns/user`, 'r');
      return new Networks(account, file, { nsenter, user });
    } catch {
      return undefined; // The self-test decides whether commands can be confined at all.
    }
  }

  /** The conversation's network, for a command that starts in it. */
  async of(conversationId: string): Promise<JoinedNetwork> {
    const network = this.#networkOf(conversationId);
    try {
      const descriptor = await network.descriptor;
      return { descriptor, openDialer: () => this.#openDialer(conversationId, network) };
    } catch (error) {
      this.#networks.delete(conversationId);
      throw error;
    }
  }

  /** The door of the conversation's network. It stays until the network is given up. */
  async door(conversationId: string): Promise<Door> {
    const network = this.#networkOf(conversationId);
    network.door ??= this.#open(network);
    try {
      return await network.door;
    } catch (error) {
      delete network.door;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const network of this.#networks.values()) giveUp(network);
    this.#networks.clear();
    closeSync(this.entry.user);
  }

  #networkOf(conversationId: string): HeldNetwork {
    const network = this.#networks.get(conversationId) ?? { descriptor: this.#make() };
    this.#networks.delete(conversationId);
    this.#networks.set(conversationId, network);
    this.#forgetOldest();
    return network;
  }

  /** Rejects for a forgotten network: the conversation's present one is not that of the command. */
  async #openDialer(conversationId: string, network: HeldNetwork): Promise<Dialer> {
    const descriptor = await network.descriptor;
    if (this.#networks.get(conversationId) !== network) throw new Error('It was forgotten.');
    return await openDialer(this.#inside(descriptor));
  }

  async #open({ descriptor }: HeldNetwork): Promise<Door> {
    return await openDoor(this.#inside(await descriptor));
  }

  #inside(network: number): InsideNetwork {
    const { nsenter, user } = this.entry;
    // As another user than the command's, the bridge has the rights of root.
    const isRoot = this.#account.prefix.length > 0;
    return { nsenter, user: isRoot ? undefined : user, network };
  }

  async #make(): Promise<number> {
    const args = [...PLAIN, '--unshare-net'].map(fromText);
    using holder = await startHolder(this.#account.prefix, this.#file, args, this.entry);
    return openSync(`/proc/${holder.pid}/ns/net`, 'r');
  }

  /** Commands that run in a forgotten network stay together; later ones get a new one. */
  #forgetOldest(): void {
    const [oldest] = this.#networks;
    if (oldest === undefined || this.#networks.size <= SANDBOX_LIMITS.maxNetworks) return;
    const [conversationId, network] = oldest;
    this.#networks.delete(conversationId);
    giveUp(network);
  }
}

/** The holder's program is one of the system: nothing is closed to it. */
const PLAIN = ['--unshare-user', '--die-with-parent', '--ro-bind', '/', '/'] as const;

/** A network as a command finds it at its start. */
export interface JoinedNetwork {
  /** Valid until the next call. */
  readonly descriptor: number;
  /** Connects to the servers in this network. Rejects where it cannot be entered any more. */
  readonly openDialer: () => Promise<Dialer>;
}

interface HeldNetwork {
  readonly descriptor: Promise<number>;
  door?: Promise<Door>;
}

/** A network that could not be made has no descriptor, and one that was never opened no door. */
function giveUp({ descriptor, door }: HeldNetwork): void {
  door?.then(
    (open) => open[Symbol.dispose](),
    () => {},
  );
  // A door that is being opened needs the descriptor.
  const opened = door?.catch(() => {});
  descriptor
    .then(async (network) => {
      await opened;
      closeSync(network);
    })
    .catch(() => {});
}
