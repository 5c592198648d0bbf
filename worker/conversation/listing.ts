/** A conversation's entry in its account's list. The conversation stores the entry and sends it to the account. */
import type {
  AgentStatus,
  ConversationInfo,
  ConversationPatch,
} from '../../shared/api/conversations.ts';
import type { UsageEntry } from '../../shared/api/usage.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { ACCOUNT_LIMITS } from '../../shared/limits.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import type { ChatResponse, ConversationView } from '../../shared/wire/documents.ts';
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import type { EndedRun, Listed } from '../ports/account.ts';
import { inTime, reach } from '../reach.ts';
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
  /** When the conversation was last answered, epoch milliseconds. */
  readonly answeredMs: () => number;
  /** The searchable text of the runs after this one. */
  readonly saidAfter: (ordinal: number) => string;
}

/** Owns the conversation's row, and sends the account its updates in order. */
export class Listing {
  readonly #store: ConversationStore;
  readonly #env: Pick<Env, 'ACCOUNTS'>;
  #row: ConversationRow;
  readonly #state: ListedState;
  readonly #usage: UsageReport;
  /** Searchable text that the account has not taken yet: of the runs after `after`. */
  #unreported: { readonly after: number; readonly text: string } | null = null;
  /** An ended run whose report has failed: the next one has it too. */
  #unsaid: Ended | undefined;
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

  /** Lists a conversation that was just stored. Never rejects: if this fails, the next report or alarm lists it. */
  async begin(): Promise<void> {
    if (!isListed(this.#row)) return;
    const listed = this.#listed(Date.parse(this.#row.created));
    const begin = () =>
      reach(() => inTime<void>(accountOf(this.#env, this.#row.owner).begin(listed)));
    await this.inOrder(begin).then(
      () => this.#usage.listed(),
      () => this.#usage.failed(), // The account's object cannot be reached.
    );
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
      const updating = accountOf(this.#env, this.#row.owner).update(listed, spent);
      const info = await inTime<ConversationInfo>(updating);
      this.#usage.listed();
      this.#state.onListed(listed);
      return info;
    });
  }

  /** Moves the conversation up, adds searchable text, and reports what was spent and the ended run. Never throws. */
  answered(ordinal: number, text: string, atMs: number, run?: EndedRun): void {
    this.#usage.ended();
    const { after = ordinal - 1, text: before = '' } = this.#unreported ?? {};
    this.#unreported = { after, text: newest(`${before}${text}\n`) };
    void this.inOrder(() => this.#report({ atMs, run }));
  }

  /** Reports what the account has not heard of. Never rejects: the next report has it too. */
  async announce(): Promise<void> {
    await this.inOrder(() => this.#report());
  }

  /** Resolves when all updates to the account have finished. */
  async settled(): Promise<void> {
    await this.#reporting;
  }

  /** `ended`: a run has just ended, which an account that has heard of everything must hear of too. */
  async #report(justEnded?: Ended): Promise<void> {
    const held = this.#unreported;
    const ended = justEnded ?? this.#unsaid;
    this.#unreported = null;
    this.#unsaid = undefined;
    const { id, owner, created, deleteAfterHours } = this.#row;
    try {
      const { after, spent, isUnlisted } = await this.#usage.next(Date.now());
      if (!isListed(this.#row)) {
        if (spent) await inTime<void>(accountOf(this.#env, owner).count(id, spent));
      } else if (spent || isUnlisted || held || ended) {
        // An earlier instance may have ended some of the runs, and died before it reported them.
        const isWhole = held !== null && (!spent || held.after <= after);
        const said =
          isUnlisted || !isWhole ? this.#state.saidAfter(isUnlisted ? 0 : after) : held.text;
        // The list would keep the bytes of a private text for an unknown time, because rows of its table are never wiped.
        const text = deleteAfterHours === null ? said : '';
        const atMs = ended?.atMs ?? Math.max(Date.parse(created), this.#state.answeredMs());
        const answered = { ...this.#listed(atMs), text, spent, run: ended?.run };
        await inTime<void>(accountOf(this.#env, owner).answered(answered));
        this.#usage.listed();
        this.#state.onListed(answered);
      }
      if (spent) this.#usage.counted(spent);
    } catch {
      // The account's object was reset. A run must not wait for it: the next report sends the text again.
      this.#usage.failed();
      this.#unsaid = ended;
      if (!held) return;
      const { text = '' } = this.#unreported ?? {};
      this.#unreported = { after: held.after, text: newest(`${held.text}${text}`) };
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

/** A run that has ended, and when. */
interface Ended {
  readonly atMs: number;
  readonly run: EndedRun | undefined;
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

/** The searchable text of the view's exchanges after this one, in order. */
function saidInAll({ messages, responses }: ConversationView, after: number): string {
  const byId = new Map(responses.map((response) => [response.id, response]));
  return messages
    .filter(({ responseId }) => parseResponseId(responseId).ordinal > after)
    .map(({ content, responseId }) => saidIn(content, byId.get(responseId) ?? null))
    .join('\n');
}

/**
 * The newest searchable text of the exchanges after `after`, from views in reverse order. Reads views until it has at
 * least `enough` UTF-16 units.
 */
export function newestSaid(views: Iterable<ConversationView>, enough: number, after = 0): string {
  let said = '';
  for (const view of views) {
    said = `${saidInAll(view, after)}\n${said}`;
    if (said.length >= enough) break;
  }
  return said;
}
