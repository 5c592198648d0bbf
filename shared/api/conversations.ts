/** Conversations as an account keeps them: their list, and the changes to a whole conversation. */
import * as z from 'zod';
import { BridgeId, ConversationId, ResponseId } from '../ids.ts';
import { CONVERSATION_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { ConversationView } from '../wire/documents.ts';
import { UndoFields } from '../wire/undo.ts';

/** `waiting`: a person must answer. `archived`: put away; the response of `responseId` shows how the work ended. */
export const AgentStatus = z.enum([
  'queued',
  'running',
  'waiting',
  'completed',
  'error',
  'cancelled',
  'archived',
]);
named.add(AgentStatus, { id: 'AgentStatus' });
export type AgentStatus = z.infer<typeof AgentStatus>;

/** A conversation in a list, with what goes on in it and what waits for a person. */
export const ConversationInfo = z.object({
  id: ConversationId,
  /** The first message's first line, then a model's title where one makes titles, until a person renames it. */
  title: z.string(),
  archived: z.boolean(),
  created: z.iso.datetime(),
  /** The time of the last answer. */
  updated: z.iso.datetime(),
  /** Null without a bridge, and where the bridge is not known. */
  bridgeId: BridgeId.nullable(),
  /** Set for an agent. */
  agent: AgentStatus.optional(),
  /** Whether a message is being answered or waits for its turn. */
  running: z.boolean(),
  /** Whether it has started subagents. */
  subagents: z.boolean(),
  /** How many approvals and clarifications wait, with those of subagents. `GET approvals` lists them. */
  waiting: z.object({
    approvals: z.int().nonnegative(),
    questions: z.int().nonnegative(),
  }),
});
named.add(ConversationInfo, { id: 'ConversationInfo' });
export type ConversationInfo = z.infer<typeof ConversationInfo>;

/** `GET conversations`: the most recently answered conversation comes first. */
export const ConversationList = z.object({
  items: z.array(ConversationInfo),
  /** The `cursor` of the next page; null on the last page. */
  nextCursor: z.string().nullable(),
});
named.add(ConversationList, { id: 'ConversationList' });
export type ConversationList = z.infer<typeof ConversationList>;

/** The size of a page, as a query has it. */
export const PageSize = z
  .string()
  .regex(/^\d{1,3}$/, 'limit takes a number from 1 to 100')
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= REQUEST_LIMITS.maxPageSize, {
    message: `limit takes a number from 1 to ${REQUEST_LIMITS.maxPageSize}`,
  });

export const ConversationsQuery = z.object({
  limit: PageSize.default(REQUEST_LIMITS.pageSize),
  /** `nextCursor` of the page before. */
  cursor: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
  /** Words that must all be in the title or the text; upper and lower case match. */
  search: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
  /** True lists only the archived conversations, false only the others. */
  archived: z
    .enum(['true', 'false'])
    .default('false')
    .transform((archived) => archived === 'true'),
  /** Leaves out what is known to belong to another bridge. */
  bridgeId: BridgeId.optional(),
});
export type ConversationsQuery = z.infer<typeof ConversationsQuery>;

/** `GET conversations/{id}`: the part of the conversation to read. */
export const ConversationQuery = z.object({
  /** The most exchanges, each a message with its response. Exchanges that have not ended are always all there. */
  limit: PageSize.default(CONVERSATION_LIMITS.shownExchanges),
  /** Takes `earlier` of a part, and gets the part before that one. Without it, the newest part. */
  before: ResponseId.optional(),
});
export type ConversationQuery = z.infer<typeof ConversationQuery>;

/** `PATCH conversations/{id}`. */
export const ConversationPatch = z
  .strictObject({
    title: z.string().trim().min(1).max(REQUEST_LIMITS.maxNameChars).optional(),
    archived: z.boolean().optional(),
  })
  .refine(({ title, archived }) => title !== undefined || archived !== undefined, {
    message: 'Give title, archived, or both',
  });
named.add(ConversationPatch, { id: 'ConversationPatch' });
export type ConversationPatch = z.infer<typeof ConversationPatch>;

/** `POST conversations/{id}/forks`: makes a new conversation with everything up to the end of this response. */
export const ForkRequest = z
  .strictObject({
    responseId: ResponseId,
    /** `restore` also takes back what later responses changed in files. */
    files: z.enum(['keep', 'restore']).default('keep'),
    /** The digest of a preview (shared/wire/undo.ts), of an undo `since` the response after this one. */
    digest: UndoFields.shape.digest,
  })
  .superRefine(({ files, digest }, context) => {
    if (files === 'restore' || digest === undefined) return;
    const message = 'Leave it out: only `files: "restore"` takes a digest';
    context.addIssue({ code: 'custom', path: ['digest'], message });
  });
named.add(ForkRequest, { id: 'ForkRequest' });
export type ForkRequestInput = z.input<typeof ForkRequest>;

export const Forked = z.object({
  conversationId: ConversationId,
  /** Set with `files: "restore"`: the response of the new conversation that restores the files. */
  responseId: ResponseId.optional(),
});
named.add(Forked, { id: 'Forked' });
export type Forked = z.infer<typeof Forked>;

export const ExportQuery = z.object({ format: z.enum(['json', 'markdown']).default('json') });

/** `GET conversations/{id}/export` as JSON. A change that a reader would misread raises `version`. */
export const ConversationExport = z.object({
  version: z.literal(1),
  exported: z.iso.datetime(),
  conversation: ConversationView.omit({ earlier: true, position: true }),
});
named.add(ConversationExport, { id: 'ConversationExport' });
export type ConversationExport = z.infer<typeof ConversationExport>;

/** `POST tickets`: names the one stream that the ticket opens. */
export const TicketRequest = z.union([
  z.object({ conversationId: ConversationId }).strict(),
  z.object({ responseId: ResponseId }).strict(),
  z.object({ stream: z.literal('account') }).strict(),
]);
named.add(TicketRequest, { id: 'TicketRequest' });
export type TicketRequest = z.infer<typeof TicketRequest>;

/** For `?ticket=` of an `events` path: a browser's EventSource cannot send a token. A ticket opens one stream. */
export const Ticket = z.object({ ticket: z.string(), expires: z.iso.datetime() });
named.add(Ticket, { id: 'Ticket' });
export type Ticket = z.infer<typeof Ticket>;
