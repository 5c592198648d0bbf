/**
 * The networks that commands share: one for each conversation, with a loopback interface and nothing else, so that a
 * conversation's commands reach its servers and nothing outside does.
 */
import { closeSync, openSync } from 'node:fs';
import type { CommandUser } from '../account.ts';
import { fromText } from '../byte-path.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Bubblewrap } from './bubblewrap.ts';
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
  readonly #networks = new Map<string, Promise<number>>();

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

  /** The descriptor of the conversation's network, valid until the next call. */
  async of(conversationId: string): Promise<number> {
    const known = this.#networks.get(conversationId);
    this.#networks.delete(conversationId);
    const network = known ?? this.#make();
    this.#networks.set(conversationId, network);
    this.#forgetOldest();
    try {
      return await network;
    } catch (error) {
      this.#networks.delete(conversationId);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const network of this.#networks.values()) closeLater(network);
    this.#networks.clear();
    closeSync(this.entry.user);
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
    closeLater(network);
  }
}

/** The holder's program is one of the system: nothing is closed to it. */
const PLAIN = ['--unshare-user', '--die-with-parent', '--ro-bind', '/', '/'] as const;

/** A network that could not be made has no descriptor. */
function closeLater(network: Promise<number>): void {
  network.then(closeSync, () => {});
}
