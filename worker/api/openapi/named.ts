/** The schemas whose names stand elsewhere than at themselves: one for each type, and those of others' APIs. */
import * as z from 'zod';
import { DOORS } from '../../../doors/index.ts';
import { AccountEvent } from '../../../shared/api/account-events.ts';
import { named } from '../../../shared/named.ts';
import { OpenApproval } from '../../../shared/wire/approvals.ts';
import {
  Document,
  DocumentMetadata,
  DocumentType,
  ToolOutcome,
} from '../../../shared/wire/documents.ts';
import { AnsweredApproval, StreamEvent } from '../../../shared/wire/events.ts';

/** The schema of the OpenAPI document itself, as far as a reader needs it. */
export const OpenApi = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.unknown()),
});
named.add(OpenApi, { id: 'OpenApi' });

/** Metadata that any type of document can have: while it waits, once it was answered, when its call failed, and after a crash. */
const BESIDE = z.object({
  approval: OpenApproval.omit({
    conversationId: true,
    title: true,
    responseId: true,
    documentId: true,
  }).optional(),
  answered: AnsweredApproval.optional(),
  awaiting: z.boolean().optional(),
  result: ToolOutcome.optional(),
  interrupted: z.boolean().optional(),
});

/** One schema for each type of document, with all fields that its metadata can grow to while it streams. */
const DOCUMENTS = DocumentType.options.map((type) =>
  Document.extend({
    type: z.literal(type),
    metadata: BESIDE.extend(DocumentMetadata[type].partial().shape),
  }),
);

/** Replaces `Document` in the OpenAPI document. */
const TypedDocument = z.discriminatedUnion(
  'type',
  DOCUMENTS as [(typeof DOCUMENTS)[number], ...typeof DOCUMENTS],
);

/** The name of {@link TypedDocument} until it replaces `Document`. */
export const TYPED = 'TypedDocument';
named.add(TypedDocument, { id: TYPED });

for (const [id, schema] of [
  ...DOORS.flatMap(({ schemas }) => Object.entries(schemas)),
  ...DOCUMENTS.map((schema) => [nameOf(schema, 'Document'), schema] as const),
  ...[...StreamEvent.options, ...AccountEvent.options].map(
    (schema) => [nameOf(schema, 'Event'), schema] as const,
  ),
]) {
  named.add(schema, { id });
}

/** `ToolCallStartEvent` for the schema of type `tool_call_start`. */
function nameOf({ shape }: z.ZodObject<{ type: z.ZodLiteral<string> }>, kind: string): string {
  const words = shape.type.value.split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + kind;
}
