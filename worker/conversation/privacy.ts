/** Private conversations: when the text is deleted, and the row that stays in its place. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { HOUR } from '../../shared/units.ts';
import type { ConversationView } from '../../shared/wire/documents.ts';
import type { PrivateListing } from '../ports/account.ts';
import type { Caller } from '../ports/conversation.ts';
import type { RunLog } from './log/run-log.ts';
import type { TapeReader } from './reading/reader.ts';
import type { ConversationRow } from './store/rows.ts';

interface Lapsing {
  readonly row: Pick<ConversationRow, 'deleteAfterHours' | 'parent'>;
  readonly log: Pick<RunLog, 'open'>;
  readonly reader: Pick<TapeReader, 'answeredMs'>;
}

/** When the text is deleted, epoch milliseconds. Null where it is not private, is answering, or has a parent. */
export function lapsesAtMs({ row, log, reader }: Lapsing): number | null {
  const { deleteAfterHours, parent } = row;
  if (deleteAfterHours === null || parent || log.open.length > 0) return null;
  return reader.answeredMs() + deleteAfterHours * HOUR;
}

type KeptConversation = Pick<
  ConversationRow,
  'id' | 'owner' | 'bridge' | 'created' | 'archived' | 'deleteAfterHours'
>;

/** What the account's list knows of the row. */
export function toListedRow(
  { account, conversationId }: Pick<Caller, 'account' | 'conversationId'>,
  { createdMs, bridgeId: bridge, deleteAfterHours }: PrivateListing,
): KeptConversation {
  const created = new Date(createdMs).toISOString();
  const known = { bridge, created, archived: false, deleteAfterHours };
  return { id: conversationId, owner: account, ...known };
}

/** All that stays of a conversation whose text is deleted. */
export function stoneOf(row: KeptConversation, deletedMs: number): ConversationRow {
  const { id, owner, bridge, created, archived, deleteAfterHours } = row;
  const kept = { id, owner, bridge, created, archived, deleteAfterHours };
  return { ...kept, title: '', ephemeral: false, titleAttempts: null, deletedMs };
}

export function contentDeleted({ deleteAfterHours, deletedMs = 0 }: ConversationRow) {
  const at = new Date(deletedMs).toISOString();
  return new DrawbridgeError(
    'CONTENT_DELETED',
    `The text of this private conversation was deleted at ${at}, ${deleteAfterHours} hours after its last answer: begin a new conversation`,
  );
}

/** What a reader gets of a conversation whose text is deleted. */
export function viewOfStone(row: ConversationRow): ConversationView {
  const { id, title, archived, created, bridge: bridgeId, deletedMs = 0 } = row;
  const deleted = new Date(deletedMs).toISOString();
  const privacy = { deleteAfterHours: row.deleteAfterHours ?? 0, deleted };
  const nothing = { messages: [], responses: [], earlier: null, position: 0 };
  return { id, title, archived, created, bridgeId, privacy, ...nothing };
}

/** As a reader of a private conversation sees it; undefined for another one. */
export function privacyOf(lapsing: Lapsing): ConversationView['privacy'] {
  const { deleteAfterHours } = lapsing.row;
  if (deleteAfterHours === null) return undefined;
  const atMs = lapsesAtMs(lapsing);
  return { deleteAfterHours, ...(atMs !== null && { deletes: new Date(atMs).toISOString() }) };
}
