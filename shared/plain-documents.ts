/** The second form of a response's documents: metadata beside the id, a tool's result as its text. */
import * as z from 'zod';
import { ChatResponse, type Document, DocumentType, ToolOutcome } from './documents.ts';
import { DocumentId } from './ids.ts';

/** What its type adds stands beside these. */
export const PlainDocument = z.looseObject({
  id: DocumentId,
  type: DocumentType,
  content: z.string().optional(),
});
export type PlainDocument = z.infer<typeof PlainDocument>;

export const PlainResponse = ChatResponse.extend({ documents: z.array(PlainDocument) });
export type PlainResponse = z.infer<typeof PlainResponse>;

/** A response in the form that its request asked for. */
export const AnyResponse = z.union([ChatResponse, PlainResponse]);

/** Documents stand in their order, so their sequence is left out. */
export function toPlain(response: ChatResponse): PlainResponse {
  return { ...response, documents: response.documents.map(plainDocument) };
}

function plainDocument({ id, type, content, metadata }: Document): PlainDocument {
  const outcome = ToolOutcome.safeParse(metadata['result']).data;
  return {
    ...metadata,
    ...(outcome && { status: outcome.status, result: outcome.data }),
    ...{ id, type },
    ...(content !== null && { content }),
  };
}
