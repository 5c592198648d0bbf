/** Which exchanges are read at once, so that opening a conversation costs the same however long it is. */
import type { ConversationView, UserMessage } from '../../../shared/documents.ts';
import { foldConversation } from '../../../shared/fold.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { shown } from '../run/inbox.ts';
import type { RunLog } from '../run/run-log.ts';
import type { Run } from '../store/rows.ts';
import type { Tape } from '../tape/tape.ts';

/** A message with its response, and where they stand on the tape. Their ordinals are counted from 1 without gaps. */
export interface Exchange extends Pick<Run, 'ordinal' | 'first' | 'started' | 'last'> {
  /** What the message says now: it can have been changed, or taken back, while it waited. */
  readonly said: Pick<UserMessage, 'content' | 'imageCount' | 'cancelled'>;
}

/** The newest exchanges: of all, or of those before a response. */
export interface Newest {
  /** The response's ordinal; null for all. */
  readonly before: number | null;
  readonly limit: number;
}

/** Exchanges from one on, as they stood when the tape ended at `until`; null for its present end. */
export interface From {
  readonly ordinal: number;
  readonly until: number | null;
}

/** What a conversation's exchanges are read from. */
export interface Source {
  readonly log: RunLog;
  readonly tape: Tape;
}

/**
 * In order: at most `limit` of them, and at most CONVERSATION_LIMITS.maxShownBytes; but at least one, and never without
 * those that have not ended, for what happens next belongs to them.
 */
export function newestExchanges(source: Source, { before, limit }: Newest): Exchange[] {
  const { maxShownBytes } = CONVERSATION_LIMITS;
  const { newest, current } = source.log;
  const exchanges: Exchange[] = [];
  let bytes = 0;
  for (let ordinal = before === null ? newest : before - 1; ordinal > 0; ordinal--) {
    const exchange = readExchange(source, ordinal);
    if (!exchange) break;
    const isNeeded = exchanges.length === 0 || (current && current.ordinal <= ordinal);
    if (!isNeeded && exchanges.length >= limit) break;
    bytes += bytesOf(source, exchange);
    if (!isNeeded && bytes > maxShownBytes) break;
    exchanges.push(exchange);
  }
  return exchanges.reverse();
}

/** In order, at least one where there is one; `next` is the ordinal of the first that is left, null where none is. */
export function exchangesFrom(
  source: Source,
  { ordinal: from, until }: From,
): { exchanges: Exchange[]; next: number | null } {
  const { maxShownBytes } = CONVERSATION_LIMITS;
  const end = until ?? source.tape.head;
  const exchanges: Exchange[] = [];
  let bytes = 0;
  for (let ordinal = from; ; ordinal++) {
    const exchange = readExchange(source, ordinal);
    if (!exchange || exchange.first >= end) return { exchanges, next: null };
    bytes += bytesOf(source, exchange);
    if (exchanges.length > 0 && bytes > maxShownBytes) return { exchanges, next: ordinal };
    exchanges.push(exchange);
  }
}

/**
 * Folds exchanges that follow one another into the view, as they stood when the tape ended at `until`. A message can have
 * waited long before its response began, and is then looked up alone: what lies between belongs to others.
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
    exchanges.filter(({ first }) => first < from),
  );
  for (const { event } of tape.read(from, to)) {
    if (event.type === 'message' && !said.has(event.message.responseId)) continue;
    foldConversation(view, event);
  }
  const later = exchanges.filter(({ first }) => first >= to);
  view.messages = [...view.messages, ...messagesOf(tape, later)].map((message) =>
    message.steers ? message : sayingNow(message, said.get(message.responseId)),
  );
}

/** The requests are not held: each can be as large as a body. */
function readExchange({ log }: Source, wanted: number): Exchange | null {
  const run = log.find(wanted);
  if (!run) return null;
  const { ordinal, first, started, last, request } = run;
  const said = shown(request.messages.at(-1)?.content ?? '');
  const wasTakenBack = started === null && last !== null;
  return {
    ordinal,
    first,
    started,
    last,
    said: wasTakenBack ? { ...said, cancelled: true } : said,
  };
}

function bytesOf({ tape }: Source, { started, last, said }: Exchange): number {
  if (started === null) return said.content.length;
  const { maxShownBytes } = CONVERSATION_LIMITS;
  return said.content.length + tape.bytesBetween(started, last ?? tape.head, maxShownBytes);
}

function messagesOf(tape: Tape, exchanges: readonly Exchange[]): UserMessage[] {
  return exchanges.map(({ first }) => {
    const [begin] = tape.read(first);
    if (begin?.event.type !== 'message') throw new Error(`there is no message at ${first}`);
    return begin.event.message;
  });
}

function sayingNow({ imageCount: _, ...message }: UserMessage, said: Exchange['said'] | undefined) {
  return { ...message, ...said };
}
