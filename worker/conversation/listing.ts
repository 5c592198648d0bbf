/** A conversation's entry in its account's list. The conversation stores the entry and sends it to the account. */
import type {
  AgentStatus,
  ConversationInfo,
  ConversationPatch,
} from '../../shared/api/conversations.ts';
import type { UsageEntry } from '../../shared/api/usage.ts';
import { ACCOUNT_LIMITS } from '../../shared/limits.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import type { ChatResponse, ConversationView } from '../../shared/wire/documents.ts';
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import type { EndedRun, Listed, SpentSince } from '../ports/account.ts';
import { reach } from '../reach.ts';
import type { ConversationRow } from './store/rows.ts';
import type { ConversationStore, Description } from './store/statements.ts';
import type { UsageReport } from './usage-report.ts';

/** Whether the account lists the conversation. */
export function isListed({ ephemeral, parent }: Pick<ConversationRow, 'ephemeral' | 'parent'>) {
  return !ephemeral && parent === undefined;
}

/** What the list's entry has beside the row. */
export interface ListedState {
  readonly agentStatus: () => AgentStatus | undefined;
  /** Whether a message is being answered or waits for its turn. */
  readonly isRunning: () => boolean;
  /** Whether a response has started subagents since this instance began. */
  readonly hasSubagents: () => boolean;
  /** The account has this entry. */
  readonly onListed: (listed: Listed) => void;
}

/** Owns the conversation's row, and sends the account its updates in order. */
export class Listing {
  readonly #store: ConversationStore;
  readonly #env: Pick<Env, 'ACCOUNTS'>;
  #row: ConversationRow;
  readonly #state: ListedState;
  readonly #usage: UsageReport;
  /** Searchable text that the account has not taken yet. */
  #unreported = '';
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(
    row: ConversationRow,
    store: ConversationStore,
    env: Pick<Env, 'ACCOUNTS'>,
    state: ListedState,
    usage: UsageReport,
  ) {
    this.#row = row;
    this.#state = state;
    this.#usage = usage;
    this.#store = store;
    this.#env = env;
  }

  get row(): ConversationRow {
    return this.#row;
  }

  /** Stores a person's new title or archived flag; false when readers see no change. A person's title is settled. */
  change(patch: ConversationPatch): boolean {
    const now = this.#row;
    const { title = now.title, archived = now.archived } = patch;
    const titleAttempts = patch.title === undefined ? now.titleAttempts : null;
    const isSeen = title !== now.title || archived !== now.archived;
    if (isSeen || titleAttempts !== now.titleAttempts) {
      this.#describe({ title, archived, titleAttempts });
    }
    return isSeen;
  }

  /** Stores that a model is about to be asked for the title. */
  countTitleAttempt(): void {
    const { title, archived, titleAttempts } = this.#row;
    this.#describe({ title, archived, titleAttempts: (titleAttempts ?? 0) + 1 });
  }

  /** Stores a model's title, which is then settled; false where the title is settled already. */
  entitle(title: string): boolean {
    const { archived, titleAttempts } = this.#row;
    if (titleAttempts === null) return false;
    this.#describe({ title, archived, titleAttempts: null });
    return true;
  }

  #describe(description: Description): void {
    this.#store.describe(description);
    this.#row = { ...this.#row, ...description };
  }

  /** Lists a conversation that was just stored. Never rejects: if this fails, the end of the first answer lists it. */
  async begin(): Promise<void> {
    if (!isListed(this.#row)) return;
    const listed = this.#listed(Date.parse(this.#row.created));
    const begin = () =>
      reach(async () => await accountOf(this.#env, this.#row.owner).begin(listed));
    await this.inOrder(begin).catch(() => undefined); // The account's object cannot be reached.
  }

  /** Does work after all that was reported to the account before, and before all later reports. Rejects as it does. */
  inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#reporting.then(work);
    this.#reporting = done.catch(() => undefined);
    return done;
  }

  /** Sends the entry to the account and returns what the list shows. `spent` is of no response, and may be lost. */
  async publish(updatedMs: number, spent?: UsageEntry): Promise<ConversationInfo> {
    return await this.inOrder(async () => {
      const listed = this.#listed(updatedMs);
      const info = await accountOf(this.#env, this.#row.owner).update(listed, spent);
      this.#state.onListed(listed);
      return info;
    });
  }

  /** Moves the conversation up, adds searchable text, and reports what was spent and the ended run. Never throws. */
  answered(text: string, atMs: number, run?: EndedRun): void {
    this.#usage.ended();
    if (!isListed(this.#row)) return void this.reportUsage();
    // The list would keep the bytes of a private text for an unknown time, because rows of its table are never wiped.
    if (this.#row.deleteAfterHours === null)
      this.#unreported = newest(`${this.#unreported}${text}\n`);
    void this.inOrder(() => this.#report(atMs, run));
  }

  /** Reports what was spent and is not counted yet. Never rejects: the next report has it too. */
  async reportUsage(): Promise<void> {
    const { id, owner } = this.#row;
    const count = (spent: SpentSince) => accountOf(this.#env, owner).count(id, spent);
    const report = () =>
      this.#withUsage(async (spent) => {
        if (spent) await count(spent);
      });
    await this.inOrder(report).catch(() => undefined);
  }

  /** Passes on what is not counted yet, and remembers the outcome. Rejects like `report`. */
  async #withUsage(report: (spent: SpentSince | null) => Promise<void>): Promise<void> {
    try {
      const spent = await this.#usage.next(Date.now());
      await report(spent);
      if (spent) this.#usage.counted(spent);
    } catch (error) {
      this.#usage.failed();
      throw error;
    }
  }

  /** Resolves when all updates to the account have finished. */
  async settled(): Promise<void> {
    await this.#reporting;
  }

  async #report(updatedMs: number, run: EndedRun | undefined): Promise<void> {
    const text = this.#unreported;
    this.#unreported = '';
    try {
      await this.#withUsage(async (spent) => {
        const answered = { ...this.#listed(updatedMs), text, spent, run };
        await accountOf(this.#env, this.#row.owner).answered(answered);
        this.#state.onListed(answered);
      });
    } catch {
      // The account's object was reset. A run must not wait for it: the next response sends the text again.
      this.#unreported = newest(`${text}${this.#unreported}`);
    }
  }

  #listed(updatedMs: number): Listed {
    const { id, archived, created, bridge: bridgeId, deleteAfterHours } = this.#row;
    const agent = this.#state.agentStatus();
    const title = deleteAfterHours === null ? this.#row.title : PRIVATE_TITLE;
    return {
      id,
      title,
      archived,
      createdMs: Date.parse(created),
      updatedMs,
      agent,
      isRunning: this.#state.isRunning(),
      hasSubagents: this.#state.hasSubagents(),
      bridgeId,
      deleteAfterHours,
    };
  }
}

/** The title of every private conversation in the list. Its own title stays in the conversation. */
const PRIVATE_TITLE = 'Private conversation';

function newest(text: string): string {
  return text.slice(-ACCOUNT_LIMITS.maxSearchChars);
}

/** The searchable text of an exchange: the user's message and the model's words, without tools. Pure. */
export function saidIn(message: string, response: ChatResponse | null): string {
  const documents = response?.documents ?? [];
  const answered = documents
    .filter(
      ({ type, metadata }) => factsOf(type).voice === 'answer' && metadata['interrupted'] !== true,
    )
    .map(({ content }) => content ?? '');
  return [message, ...answered].join('\n');
}

/** The searchable text of the whole view, in order. */
function saidInAll({ messages, responses }: ConversationView): string {
  const byId = new Map(responses.map((response) => [response.id, response]));
  return messages
    .map(({ content, responseId }) => saidIn(content, byId.get(responseId) ?? null))
    .join('\n');
}

/** The newest searchable text, from views in reverse order. Reads views until it has at least `enough` UTF-16 units. */
export function newestSaid(views: Iterable<ConversationView>, enough: number): string {
  let said = '';
  for (const view of views) {
    said = `${saidInAll(view)}\n${said}`;
    if (said.length >= enough) break;
  }
  return said;
}
