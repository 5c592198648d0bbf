/** Knows which accounts the machine lets in beside its owner, and which account each conversation belongs to. */

import { ToolFailure } from '../../machine/failure.ts';
import { lookEvery } from '../../machine/keep-alive.ts';
import { logTrouble } from '../../machine/log.ts';
import { ReportFeed } from '../../packages/host/index.ts';
import { WORKTREE_TOOLS } from '../../shared/tools/worktree.ts';
import { type AccountGrant, nameFor } from '../../shared/wire/grants.ts';
import type { Hello, ToolCall } from '../../shared/wire/tunnel.ts';
import { readGrants } from './grant-file.ts';
import { GRANTEE_LIMITS } from './limits.ts';

/** What the rules need to know of a conversation: the grant that it works by; null for one that is over. */
export type GrantOf = (conversationId: string) => Promise<AccountGrant | null | undefined>;

/** The call's words about itself that count here. */
type CallOf = Pick<ToolCall, 'conversationId' | 'grantee' | 'worktree' | 'tool'>;

/** Reads the file of grants at every question, so that an ended grant counts at once. */
export class Grantees {
  readonly #stateDir: string;
  /** By conversation: whose calls it has had; {@link OWNER} for the owner. */
  readonly #accounts = new Map<string, string>();
  #logged: string | undefined;
  /** As of the last look at the file. */
  #reported: readonly string[] = [];
  readonly feed = new ReportFeed(() => ({ type: 'grants', names: [...this.#reported] }));

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Whom the machine lets in. */
  async names(): Promise<string[]> {
    return (await this.#read()).map(({ name }) => name);
  }

  async grantFor(account: string): Promise<AccountGrant | undefined> {
    const grants = await this.#read();
    const name = nameFor(
      account,
      grants.map((grant) => grant.name),
    );
    return grants.find((grant) => grant.name === name);
  }

  /**
   * Checks at this moment whose call it is. Undefined for one of the owner. The edge's word about the account counts only
   * where the owner has let that account in, and for a conversation with calls of no other one.
   * @throws {ToolFailure} `NOT_GRANTED`, and `WORKTREE_REQUIRED`.
   */
  async enter({
    conversationId,
    grantee,
    worktree,
    tool,
  }: CallOf): Promise<AccountGrant | undefined> {
    const grant = grantee === undefined ? undefined : await this.grantFor(grantee);
    if (grantee !== undefined && !grant) throw notGranted();
    if (!this.mayName(conversationId, grantee)) throw notGranted();
    if (typeof worktree === 'string' && !this.mayName(worktree, grantee)) throw notGranted();
    const isApart = worktree !== undefined || WORKTREE_TOOLS.some(({ name }) => name === tool);
    if (grant?.worktrees && !isApart) throw new ToolFailure('WORKTREE_REQUIRED', APART);
    this.#note(conversationId, grantee ?? OWNER);
    return grant;
  }

  /** Whether no other account has had calls in the conversation. Undefined is the owner. */
  mayName(conversationId: string, account: string | undefined): boolean {
    const known = this.#accounts.get(conversationId);
    return known === undefined || known === (account ?? OWNER);
  }

  readonly grantOf: GrantOf = async (conversationId) => {
    const account = this.#accounts.get(conversationId);
    if (account === undefined || account === OWNER) return undefined;
    return (await this.grantFor(account)) ?? null;
  };

  /** The field of a hello that names whom the machine lets in. */
  async hello(): Promise<Pick<Hello, 'grants'>> {
    const names = await this.names();
    this.#reported = names;
    return names.length > 0 ? { grants: names } : {};
  }

  /**
   * Calls `onChange` with the present names, and again whenever they have changed, until the signal aborts. The edge then
   * gets them, too.
   */
  async follow(onChange: (names: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    let seen: string | undefined;
    const look = async () => {
      const names = await this.names();
      if (signal.aborted) return;
      if (JSON.stringify(names) !== seen) {
        this.#reported = names;
        onChange(names);
        this.feed.update();
      }
      seen = JSON.stringify(names);
    };
    await lookEvery(GRANTEE_LIMITS.watchMs, look, signal);
  }

  /** The conversations of accounts that none of the names lets in. */
  conversationsWithout(names: readonly string[]): string[] {
    return [...this.#accounts].flatMap(([conversationId, account]) =>
      account === OWNER || nameFor(account, names) !== undefined ? [] : [conversationId],
    );
  }

  #note(conversationId: string, account: string): void {
    this.#accounts.delete(conversationId);
    this.#accounts.set(conversationId, account);
    const [oldest] = this.#accounts.keys();
    if (oldest !== undefined && this.#accounts.size > GRANTEE_LIMITS.maxConversations) {
      this.#accounts.delete(oldest);
    }
  }

  /** None where the file is wrong or cannot be read: it must not let in whom the owner may have meant to end. */
  async #read(): Promise<readonly AccountGrant[]> {
    try {
      const grants = await readGrants(this.#stateDir);
      this.#logged = undefined;
      return grants;
    } catch (error) {
      const why = String(error);
      if (why !== this.#logged) {
        logTrouble({ event: 'grants_unreadable' }, 'No other account is let in', error);
      }
      this.#logged = why;
      return [];
    }
  }
}

/** No account has an empty name. */
const OWNER = '';

function notGranted(): ToolFailure {
  return new ToolFailure('NOT_GRANTED', NOT_GRANTED);
}

/** The model reads it, too. */
export const NOT_GRANTED =
  'The owner of this machine does not let this account use the folder, or no longer does, so the call does not run.';

const APART =
  'The owner of this machine lets this account work in a worktree alone, and this call is for the folder itself, so it was not run: the user can start a background agent, which works in a worktree.';
