/** Selects the exchanges to read at once, so that opening a conversation costs the same however long it is. */

import { parseResponseId, responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import type {
  ChatResponse,
  ConversationView,
  UserMessage,
} from '../../../shared/wire/documents.ts';
import { foldConversation, foldEvent, newResponse } from '../../../shared/wire/fold.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Run } from '../store/rows.ts';
import { errorDocument, UNREADABLE } from '../tape/error-document.ts';
import { type PlacedRun, repaired } from '../tape/repaired.ts';
import { contentOf, shown } from '../tape/run-events.ts';
import type { Tape } from '../tape/tape.ts';

/** A message with its response, and their positions on the tape. Ordinals count from 1 without gaps. */
export interface Exchange extends Pick<Run, 'ordinal' | 'first' | 'started' | 'last'> {
  /** The message's present content, and whether it is `cancelled`. Empty where the run's row is damaged. */
  readonly said: Partial<Pick<UserMessage, 'content' | 'imageCount' | 'cancelled'>>;
  /** Null where the row is lost; the positions are then unknown too. */
  readonly run: PlacedRun | null;
}

/** Asks for the newest exchanges of all, or of those before one response. */
export interface Newest {
  /** The ordinal of that response; null for all. */
  readonly before: number | null;
  readonly limit: number;
}

/** Asks for the exchanges from `ordinal` on, as they were when the tape ended at `until`; null for its present end. */
export interface From {
  readonly ordinal: number;
  readonly until: number | null;
}

/** The sources of a conversation's exchanges. */
export interface ExchangeSources {
  readonly log: RunLog;
  readonly tape: Tape;
}

/** The newest exchanges in order, within both limits; at least one, and all that have not ended. */
export function newestExchanges(source: ExchangeSources, { before, limit }: Newest): Exchange[] {
  const { maxShownBytes } = CONVERSATION_LIMITS;
  const { newest, current } = source.log;
  const exchanges: Exchange[] = [];
  let bytes = 0;
  for (let ordinal = before === null ? newest : before - 1; ordinal > 0; ordinal--) {
    const exchange = readExchange(source, ordinal);
    const isNeeded = exchanges.length === 0 || (current && current.ordinal <= ordinal);
    if (!isNeeded && exchanges.length >= limit) break;
    bytes += bytesOf(source, exchange);
    if (!isNeeded && bytes > maxShownBytes) break;
    exchanges.push(exchange);
  }
  return exchanges.reverse();
}

/** Exchanges in order, at least one where there is one. `next` is the first ordinal left out; null without one. */
export function exchangesFrom(
  source: ExchangeSources,
  { ordinal: from, until }: From,
): { exchanges: Exchange[]; next: number | null } {
  const { maxChapterBytes } = CONVERSATION_LIMITS;
  const end = until ?? source.tape.head;
  const exchanges: Exchange[] = [];
  let bytes = 0;
  for (let ordinal = from; ordinal <= source.log.newest; ordinal++) {
    const exchange = readExchange(source, ordinal);
    if (exchange.first >= end) break;
    bytes += bytesOf(source, exchange);
    if (exchanges.length > 0 && bytes > maxChapterBytes) return { exchanges, next: ordinal };
    exchanges.push(exchange);
  }
  return { exchanges, next: null };
}

/**
 * Folds consecutive exchanges into the view, as they were when the tape ended at `until`. A message that waited long
 * before its response began is looked up alone, because the events between belong to other responses.
 */
export function foldExchanges(
  view: ConversationView,
  tape: Tape,
  exchanges: readonly Exchange[],
  until: number,
): void {
  const begun = exchanges.filter(({ started }) => started !== null);
  const from = begun[0]?.started ?? until;
  const to = Math.min(begun.at(-1)?.last ?? until, until);
  const said = new Map(
    exchanges.map((exchange) => [responseIdOf(view.id, exchange.ordinal), exchange.said]),
  );
  view.messages = messagesOf(
    tape,
    exchanges.filter(({ first }) => first < from && first >= 0),
  );
  const runs = exchanges.flatMap(({ run }) => run ?? []);
  const entries = tape.entries(from, to);
  for (const { event } of repaired(entries, { conversationId: view.id, runs, to })) {
    if (event.type === 'message' && !said.has(event.message.responseId)) continue;
    foldConversation(view, event);
  }
  // A person can change a plan after its response has finished.
  for (const event of hasPlan(view.responses) ? tape.planUpdates(to, until) : []) {
    foldConversation(view, event);
  }
  const later = exchanges.filter(({ first }) => first >= to);
  view.messages = [...view.messages, ...messagesOf(tape, later)].map((message) =>
    message.steers ? message : sayingNow(message, said.get(message.responseId)),
  );
  fillIn(view, exchanges);
}

function hasPlan(responses: readonly ChatResponse[]): boolean {
  return responses.some(({ documents }) => documents.some(({ type }) => type === 'plan'));
}

/** Keeps only small fields of the request, which can be as large as a body. */
function readExchange({ log }: ExchangeSources, wanted: number): Exchange {
  const run = log.find(wanted);
  if (!run) return { ordinal: wanted, first: -1, started: null, last: null, said: {}, run: null };
  const { ordinal, first, started, last, status, request, isDamaged } = run;
  const { model, mode, createdMs } = request;
  const said = isDamaged ? {} : shown(contentOf(request));
  const wasTakenBack = started === null && last !== null;
  return {
    ordinal,
    first,
    started,
    last,
    said: wasTakenBack ? { ...said, cancelled: true } : said,
    run: { ordinal, status, started, last, request: { model, mode, createdMs } },
  };
}

function bytesOf({ tape }: ExchangeSources, { started, last, said }: Exchange): number {
  const chars = said.content?.length ?? 0;
  if (started === null) return chars;
  const { maxShownBytes } = CONVERSATION_LIMITS;
  return chars + tape.bytesBetween(started, last ?? tape.head, maxShownBytes);
}

/** The messages that are readable on the tape; {@link fillIn} adds the lost ones. */
function messagesOf(tape: Tape, exchanges: readonly Exchange[]): UserMessage[] {
  return exchanges.flatMap(({ first }) => {
    const [begin] = tape.read(first);
    return begin?.event.type === 'message' ? [begin.event.message] : [];
  });
}

/** Inserts lost messages with what their runs still know, and responses whose runs are lost. */
function fillIn(view: ConversationView, exchanges: readonly Exchange[]): void {
  for (const { ordinal, said, run } of exchanges) {
    const responseId = responseIdOf(view.id, ordinal);
    const created = run ? new Date(run.request.createdMs).toISOString() : view.created;
    if (!view.messages.some((message) => message.responseId === responseId && !message.steers)) {
      const message = { content: LOST_MESSAGE, ...said, responseId, created };
      insertAt(view.messages, message, (other) => ordinalOf(other.responseId) >= ordinal);
    }
    if (run) continue;
    const lost = lostResponse({ id: responseId, conversationId: view.id, created });
    insertAt(view.responses, lost, ({ id }) => ordinalOf(id) >= ordinal);
  }
}

const LOST_MESSAGE = '[This message is damaged in storage and cannot be shown.]';

function lostResponse(known: Pick<ChatResponse, 'id' | 'conversationId' | 'created'>) {
  const start = { ...known, model: 'unknown', mode: 'ask' } as const;
  const lost: ChatResponse = { ...newResponse(start), status: 'error' };
  const report = {
    code: UNREADABLE,
    source: 'drawbridge',
    message: 'This answer is damaged in storage and cannot be shown.',
  };
  for (const event of errorDocument(1, report)) foldEvent(lost, event);
  return lost;
}

function insertAt<Item>(items: Item[], item: Item, isBehind: (other: Item) => boolean): void {
  const place = items.findIndex(isBehind);
  items.splice(place < 0 ? items.length : place, 0, item);
}

function ordinalOf(responseId: string): number {
  return parseResponseId(responseId).ordinal;
}

function sayingNow({ imageCount: _, ...message }: UserMessage, said: Exchange['said'] | undefined) {
  return { ...message, ...said };
}
