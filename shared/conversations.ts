/** Conversations as an account keeps them: the list, and what can be done to one as a whole. */
import * as z from 'zod';
import { ConversationView } from './documents.ts';
import { ConversationId, ResponseId } from './ids.ts';
import { CONVERSATION_LIMITS, REQUEST_LIMITS } from './limits.ts';

export const ConversationInfo = z.object({
  id: ConversationId,
  /** From its first message, until somebody renames it. */
  title: z.string(),
  archived: z.boolean(),
  created: z.iso.datetime(),
  /** When it was last answered. */
  updated: z.iso.datetime(),
});
export type ConversationInfo = z.infer<typeof ConversationInfo>;

/** `GET conversations`: the one that was answered last comes first. */
export const ConversationList = z.object({
  items: z.array(ConversationInfo),
  /** For the next page, as `cursor`; null on the last one. */
  nextCursor: z.string().nullable(),
});
export type ConversationList = z.infer<typeof ConversationList>;

const PageSize = z
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
  /** Words that must all stand in its title or its text, in any case. */
  search: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
  /** Which ones: those that are not archived, or only those that are. */
  archived: z
    .enum(['true', 'false'])
    .default('false')
    .transform((archived) => archived === 'true'),
});
export type ConversationsQuery = z.infer<typeof ConversationsQuery>;

/** `GET conversations/{id}`: which part of it. */
export const ConversationQuery = z.object({
  /** Exchanges at most: a message with its response is one. Those that have not ended are all there in any case. */
  limit: PageSize.default(CONVERSATION_LIMITS.shownExchanges),
  /** `earlier` of the part that comes after the one that is wanted; without it the newest part. */
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
    message: 'Give a title, or whether it is archived',
  });
export type ConversationPatch = z.infer<typeof ConversationPatch>;

/** `POST conversations/{id}/forks`: a new conversation with everything up to the end of this response. */
export const ForkRequest = z.strictObject({ responseId: ResponseId });
export type ForkRequest = z.infer<typeof ForkRequest>;

export const Forked = z.object({ conversationId: ConversationId });
export type Forked = z.infer<typeof Forked>;

export const ExportQuery = z.object({ format: z.enum(['json', 'markdown']).default('json') });

/**
 * `GET conversations/{id}/export` as JSON: all of it, as it stood when the export began. `version` is raised with every
 * change that a reader would misread.
 */
export const ConversationExport = z.object({
  version: z.literal(1),
  exported: z.iso.datetime(),
  conversation: ConversationView.omit({ earlier: true, position: true }),
});
export type ConversationExport = z.infer<typeof ConversationExport>;

/** `POST tickets`: the one stream that the ticket opens. */
export const TicketRequest = z.union([
  z.object({ conversationId: ConversationId }).strict(),
  z.object({ responseId: ResponseId }).strict(),
]);
export type TicketRequest = z.infer<typeof TicketRequest>;

/** For `?ticket=` of an `events` path, where a browser's EventSource cannot send a token. It opens one stream, once. */
export const Ticket = z.object({ ticket: z.string(), expires: z.iso.datetime() });
export type Ticket = z.infer<typeof Ticket>;
