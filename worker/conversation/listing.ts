/** A conversation's entry in its account's list. The conversation stores the entry and sends it to the account. */
import type {
  AgentStatus,
  ConversationInfo,
  ConversationPatch,
} from '../../shared/api/conversations.ts';
import type { UsageEntry } from '../../shared/api/usage.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { ACCOUNT_LIMITS } from '../../shared/limits.ts';
import { DAY } from '../../shared/units.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import type { ChatResponse, ConversationView } from '../../shared/wire/documents.ts';
import type { Env } from '../env.ts';
import { LevelReport } from '../level-report.ts';
import { accountOf } from '../objects.ts';
import type { EndedRun, Heard, Listed, SpentSince } from '../ports/account.ts';
import { inTime, reach } from '../reach.ts';
import type { RunLog } from './log/run-log.ts';
import { entriesOf } from './store/model-requests.ts';
import type { ConversationRow } from './store/rows.ts';
import type { RunStore } from './store/run-statements.ts';
import type { ConversationStore, Description } from './store/statements.ts';

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

export interface ListingDeps {
  readonly env: Pick<Env, 'ACCOUNTS'>;
  readonly store: ConversationStore;
  readonly log: RunLog;
  readonly runs: RunStore;
  readonly state: ListedState;
}

/** What the account must know, apart from what its list shows. */
interface HeardEntry {
  readonly isListed: boolean;
  /** The run through which usage is counted. */
  readonly through: number;
}

/**
 * Owns the conversation's row, and sends the account its updates in order. The account remembers through which run it has
 * counted what the runs have spent, and an instance that does not know it asks first: a report that is lost in a crash is
 * made again, and one whose answer is lost counts once.
 */
export class Listing {
  readonly #deps: ListingDeps;
  #row: ConversationRow;
  readonly #level: LevelReport<HeardEntry>;
  /** Searchable text that the account has not taken yet: of the runs after `after`. */
  #unreported: { readonly after: number; readonly text: string } | null = null;
  /** An ended run whose report has failed: the next one has it too. */
  #unsaid: Ended | undefined;
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(row: ConversationRow, deps: ListingDeps, isStored: boolean) {
    this.#row = row;
    this.#deps = deps;
    const present = () => ({
      isListed: isListed(row),
      through: (deps.log.current?.ordinal ?? deps.log.newest + 1) - 1,
    });
    const heard = isStored ? {} : { isListed: false, through: 0 };
    this.#level = new LevelReport({ present, send: (level) => this.#send(level) }, heard);
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
    this.#deps.store.describe(description);
    this.#row = { ...this.#row, ...description };
  }

  /** Lists a conversation that was just stored. Never rejects: if this fails, the next report or alarm lists it. */
  async begin(): Promise<void> {
    if (!isListed(this.#row)) return;
    const listed = this.#listed(Date.parse(this.#row.created));
    const begin = () => reach(() => inTime<void>(this.#account.begin(listed)));
    await this.inOrder(begin).then(
      () => this.#level.learn({ isListed: true }),
      () => this.#level.forget(), // The account's object cannot be reached.
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
      const info = await inTime<ConversationInfo>(this.#account.update(listed, spent));
      this.#level.learn({ isListed: true });
      this.#deps.state.onListed(listed);
      return info;
    });
  }

  /** Moves the conversation up, adds searchable text, and reports what was spent and the ended run. Never throws. */
  answered(ordinal: number, text: string, atMs: number, run?: EndedRun): void {
    const { after = ordinal - 1, text: before = '' } = this.#unreported ?? {};
    this.#unreported = { after, text: newest(`${before}${text}\n`) };
    void this.inOrder(() => {
      this.#unsaid = { atMs, run };
      return this.#level.report(true);
    });
  }

  /** When {@link report} is due. The alarm comes after each run anyway, and finds here what is still to be reported. */
  dueMs(): number | null {
    return this.#level.dueMs();
  }

  /** Reports what the account has not heard of. Never rejects: the next report has it too. */
  report(): Promise<void> {
    return this.inOrder(() => this.#level.report());
  }

  /** Resolves when all updates to the account have finished. */
  async settled(): Promise<void> {
    await this.#reporting;
  }

  async #send({ isListed, through }: HeardEntry): Promise<void> {
    const { runs, state } = this.#deps;
    const { id, created, deleteAfterHours } = this.#row;
    const held = this.#unreported;
    const ended = this.#unsaid;
    this.#unreported = null;
    this.#unsaid = undefined;
    try {
      const heard = await this.#heard();
      const after = heard.through ?? through - 1;
      const isUnlisted = isListed && !heard.isListed;
      const spent = through > after ? spentIn(runs, after, through, Date.parse(created)) : null;
      if (!isListed) {
        if (spent) await inTime<void>(this.#account.count(id, spent));
      } else if (spent || isUnlisted || held || ended) {
        // An earlier instance may have ended some of the runs, and died before it reported them.
        const isWhole = held !== null && (!spent || held.after <= after);
        const said = isUnlisted || !isWhole ? state.saidAfter(isUnlisted ? 0 : after) : held.text;
        // The list would keep the bytes of a private text for an unknown time, because rows of its table are never wiped.
        const text = deleteAfterHours === null ? said : '';
        const atMs = ended?.atMs ?? Math.max(Date.parse(created), state.answeredMs());
        const answered = { ...this.#listed(atMs), text, spent, run: ended?.run };
        await inTime<void>(this.#account.answered(answered));
        state.onListed(answered);
      }
    } catch (error) {
      // A run must not wait for the account: the next report sends the text again.
      this.#unsaid = ended;
      if (held) {
        const { text = '' } = this.#unreported ?? {};
        this.#unreported = { after: held.after, text: newest(`${held.text}${text}`) };
      }
      throw error;
    }
  }

  async #heard(): Promise<Heard> {
    const { isListed, through } = this.#level.heard;
    if (isListed !== undefined && through !== undefined) return { isListed, through };
    return await inTime<Heard>(this.#account.heard(this.#row.id));
  }

  get #account() {
    return accountOf(this.#deps.env, this.#row.owner);
  }

  #listed(updatedMs: number): Listed {
    const { id, archived, created, bridge: bridgeId, deleteAfterHours } = this.#row;
    const { state } = this.#deps;
    const agent = state.agentStatus();
    const title = deleteAfterHours === null ? this.#row.title : PRIVATE_TITLE;
    return {
      id,
      title,
      archived,
      createdMs: Date.parse(created),
      updatedMs,
      agent,
      isRunning: state.isRunning(),
      hasSubagents: state.hasSubagents(),
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

/** What the runs have spent. The turns of a copied conversation are older than the copy, and count where they were made. */
function spentIn(runs: RunStore, after: number, through: number, createdMs: number): SpentSince {
  const nowMs = Date.now();
  const sinceMs = Math.max(createdMs, nowMs - MAX_REPORTED_AGE_MS);
  const entries = entriesOf(runs.readModelRequests(after, through), sinceMs, nowMs);
  return { after, through, entries };
}

/** Older responses are given up: the account must remember them until then. */
const MAX_REPORTED_AGE_MS = DAY;

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
