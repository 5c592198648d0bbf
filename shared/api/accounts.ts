/** Accounts as the server's operator sees them: `accounts`. */
import * as z from 'zod';
import { ErrorCode } from '../errors.ts';
import { BridgeId, ConversationId, SessionId } from '../ids.ts';
import { SESSION_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { ConversationView } from '../wire/documents.ts';
import { Passkey } from './passkeys.ts';
import { ActRecord } from './records.ts';
import { SessionKind } from './sessions.ts';
import { UsageEntry } from './usage.ts';

/** The account of a person, or of a user of an app (`app:shop:42`). */
export const AccountName = z.string().min(1).max(SESSION_LIMITS.maxAccountChars);

/** `suspended`: refused until the operator lifts that. `deleting`: under way. `deleted`: tokens are refused. */
export const AccountState = z.enum(['active', 'suspended', 'deleting', 'deleted']);
named.add(AccountState, { id: 'AccountState' });
export type AccountState = z.infer<typeof AccountState>;

const Count = z.int().nonnegative();

/** What an account has. Conversations for one answer and those of subagents do not count. */
const Owned = z.object({ conversations: Count, bridges: Count, sessions: Count });

/** `GET accounts/{account}`, and the answer to each change. */
export const AccountStanding = z.object({
  account: z.string(),
  /** `damaged`: its own database cannot be read. Nothing else is known of it then. */
  state: z.enum([...AccountState.options, 'damaged']),
  /** When it got into its state; null if it has always been active. */
  since: z.iso.datetime().nullable(),
  /** What it has now. */
  has: Owned,
  /** What its deletion has deleted so far. `failed`: conversations and bridges whose storage could not be opened. */
  deleted: Owned.extend({ failed: Count }),
});
named.add(AccountStanding, { id: 'AccountStanding' });
export type AccountStanding = z.infer<typeof AccountStanding>;

/** `PATCH accounts/{account}`: suspends it, or lifts that. A deleted account that becomes active begins anew. */
export const AccountPatch = z.strictObject({ state: z.enum(['active', 'suspended']) });
named.add(AccountPatch, { id: 'AccountPatch' });

const Time = z.iso.datetime();

/**
 * A line of `GET accounts/{account}/export`. Lines of one conversation follow each other, each with some exchanges.
 * `unreadable`: a conversation whose text was deleted, or whose storage cannot be opened. A change that a reader would
 * misread raises `version`.
 */
export const AccountExportLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('account'),
    version: z.literal(1),
    account: z.string(),
    state: AccountState,
    exported: Time,
    /** The account's default for new conversations; null where they are not private, or it has none. */
    deleteAfterHours: z.int().nullable(),
  }),
  z.object({
    type: z.literal('session'),
    id: SessionId,
    name: z.string(),
    kind: SessionKind,
    created: Time,
    lastUsed: Time,
  }),
  z.object({ type: z.literal('passkey'), passkey: Passkey }),
  z.object({ type: z.literal('bridge'), id: BridgeId, lastConnected: Time }),
  z.object({ type: z.literal('usage'), entry: UsageEntry }),
  z.object({ type: z.literal('record'), record: ActRecord }),
  z.object({ type: z.literal('conversation'), conversation: ConversationView }),
  z.object({ type: z.literal('unreadable'), conversationId: ConversationId, code: ErrorCode }),
  /** The last line. Without it the file is not whole. */
  z.object({ type: z.literal('end'), conversations: z.int() }),
]);
named.add(AccountExportLine, { id: 'AccountExportLine' });
export type AccountExportLine = z.infer<typeof AccountExportLine>;
