/**
 * The namespaces that a conversation's commands share: a network with a loopback interface and nothing else, so that they
 * reach its servers and nothing outside does, and their processes.
 */
import { closeSync, openSync } from 'node:fs';
import { type BytePath, fromText } from '../../../machine/byte-path.ts';
import type { CommandUser } from '../account.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Dialer } from '../terminal/process-book.ts';
import { SEAL } from '../view/view.ts';
import type { Bubblewrap } from './bubblewrap.ts';
import { ownUser } from './command-arguments.ts';
import { openDialer } from './dialer.ts';
import { type InsideNetwork, type NetworkDoor, openDoor } from './door.ts';
import { type Entry, type Holder, startHolder } from './holder.ts';
import { FIRST_PROCESS, OWN_PROCESSES, ProcessNamespace } from './process-namespace.ts';

/**
 * A process may join a namespace only from a user namespace above it, while bases come and go. So one user namespace is
 * above all bases and shared namespaces. No command keeps rights over any of them: each command makes a user namespace
 * of its own. The programs that start a command are root in the one above, because the `/proc` of a shared PID namespace
 * can only be mounted by it.
 */
export class SharedNamespaces implements Disposable {
  /** Enters the user namespace above all. */
  readonly entry: Entry;
  readonly #account: CommandUser;
  readonly #bubblewrap: Bubblewrap;
  readonly #view: Promise<readonly BytePath[]>;
  /** By their conversations, the one used last at the end. */
  readonly #conversations = new Map<string, HeldNamespaces>();

  private constructor(
    account: CommandUser,
    bubblewrap: Bubblewrap,
    view: Promise<readonly BytePath[]>,
    entry: Entry,
  ) {
    this.#account = account;
    this.#bubblewrap = bubblewrap;
    this.#view = view;
    this.entry = entry;
  }

  /**
   * Undefined where no namespace can be entered: then each command has namespaces of its own. `view` is what commands see:
   * they can list the mounts of the first process.
   */
  static async open(
    account: CommandUser,
    bubblewrap: Bubblewrap,
    view: Promise<readonly BytePath[]>,
  ): Promise<SharedNamespaces | undefined> {
    const { file, nsenter } = bubblewrap;
    if (nsenter === undefined) return undefined;
    try {
      const args = [...PLAIN, '--ro-bind', '/', '/', '--uid', '0', '--gid', '0'].map(fromText);
      using holder = await startHolder(account.prefix, file, args);
      const user = openSync(`/proc/${holder.pid}/ns/user`, 'r');
      return new SharedNamespaces(account, bubblewrap, view, { nsenter, user });
    } catch {
      return undefined; // The self-test decides whether commands can be confined at all.
    }
  }

  /** The conversation's namespaces, for a command that starts in them. */
  async of(conversationId: string): Promise<JoinedNamespaces> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const held = this.#heldBy(conversationId);
      const made = await held.made.catch((error: unknown) => {
        this.#forget(conversationId, held);
        throw error;
      });
      if (made.processes?.isAlive !== false)
        return { ...made, openDialer: () => this.#openDialer(conversationId, held) };
      this.#forget(conversationId, held);
    }
    throw new Error('the first process of a namespace does not stay alive');
  }

  /** The door of the conversation's network. It stays until the network is given up. */
  async door(conversationId: string): Promise<NetworkDoor> {
    const held = this.#heldBy(conversationId);
    held.door ??= this.#open(held);
    try {
      return await held.door;
    } catch (error) {
      delete held.door;
      throw error;
    }
  }

  /** Later commands of the conversation get new ones. */
  forget(conversationId: string): void {
    const held = this.#conversations.get(conversationId);
    if (held) this.#forget(conversationId, held);
  }

  [Symbol.dispose](): void {
    for (const held of this.#conversations.values()) giveUp(held);
    this.#conversations.clear();
    closeSync(this.entry.user);
  }

  #heldBy(conversationId: string): HeldNamespaces {
    const held = this.#conversations.get(conversationId) ?? { made: this.#make() };
    this.#conversations.delete(conversationId);
    this.#conversations.set(conversationId, held);
    const [oldest] = this.#conversations;
    if (oldest && this.#conversations.size > SANDBOX_LIMITS.maxConversations)
      this.#forget(...oldest);
    return held;
  }

  /** Commands that run in forgotten namespaces stay together; later ones get new ones. */
  #forget(conversationId: string, held: HeldNamespaces): void {
    if (this.#conversations.get(conversationId) !== held) return;
    this.#conversations.delete(conversationId);
    giveUp(held);
  }

  /** Rejects for a forgotten network: the conversation's present one is not that of the command. */
  async #openDialer(conversationId: string, held: HeldNamespaces): Promise<Dialer> {
    const { network } = await held.made;
    if (this.#conversations.get(conversationId) !== held) throw new Error('It was forgotten.');
    return await openDialer(this.#inside(network));
  }

  async #open({ made }: HeldNamespaces): Promise<NetworkDoor> {
    return await openDoor(this.#inside((await made).network));
  }

  #inside(network: number): InsideNetwork {
    const { nsenter, user } = this.entry;
    // As another user than the command's, the bridge has the rights of root.
    const isRoot = this.#account.prefix.length > 0;
    return { nsenter, user: isRoot ? undefined : user, network };
  }

  async #make(): Promise<MadeNamespaces> {
    const { uid, gid, prefix } = this.#account;
    const { file, unshare } = this.#bubblewrap;
    const { entry } = this;
    const network = [...PLAIN, ...ownUser({ uid, gid }), '--unshare-net'].map(fromText);
    const seen = [...network, ...(await this.#view)];
    if (unshare === undefined) {
      using holder = await startHolder(prefix, file, [...seen, ...SEAL], { entry });
      return { network: openNetwork(holder) };
    }
    const args = [...seen, ...OWN_PROCESSES, ...SEAL];
    const holder = await startHolder(prefix, file, args, { entry, ...FIRST_PROCESS });
    try {
      return { network: openNetwork(holder), processes: new ProcessNamespace(holder) };
    } catch (error) {
      holder[Symbol.dispose]();
      throw error;
    }
  }
}

const PLAIN = ['--unshare-user', '--cap-drop', 'ALL', '--die-with-parent'] as const;

/** The namespaces of a conversation as a command finds them at its start. */
export interface JoinedNamespaces {
  /** A descriptor, valid until the next call. */
  readonly network: number;
  /** Valid until the next call. Absent where each command has processes of its own. */
  readonly processes?: ProcessNamespace | undefined;
  /** Connects to the servers in this network. Rejects where it cannot be entered any more. */
  readonly openDialer: () => Promise<Dialer>;
}

type MadeNamespaces = Pick<JoinedNamespaces, 'network' | 'processes'>;

interface HeldNamespaces {
  readonly made: Promise<MadeNamespaces>;
  door?: Promise<NetworkDoor>;
}

function openNetwork({ pid }: Holder): number {
  return openSync(`/proc/${pid}/ns/net`, 'r');
}

/** Namespaces that could not be made have no descriptor, and a network that was never opened no door. */
function giveUp({ made, door }: HeldNamespaces): void {
  door?.then(
    (open) => open[Symbol.dispose](),
    () => {},
  );
  // A door that is being opened needs the descriptor.
  const opened = door?.catch(() => {});
  made
    .then(async ({ network, processes }) => {
      processes?.[Symbol.dispose]();
      await opened;
      closeSync(network);
    })
    .catch(() => {});
}
