/** The plain form of a response's documents: metadata is beside the id, and a tool's result is its text. */
import * as z from 'zod';
import { DocumentId } from '../ids.ts';
import { named } from '../named.ts';
import { ChatResponse, type Document, DocumentType, ToolOutcome } from '../wire/documents.ts';

/** The metadata fields of the document's type are beside these fields. */
const PlainDocument = z.looseObject({
  id: DocumentId,
  type: DocumentType,
  content: z.string().optional(),
});
named.add(PlainDocument, { id: 'PlainDocument' });
export type PlainDocument = z.infer<typeof PlainDocument>;

export const PlainResponse = ChatResponse.extend({ documents: z.array(PlainDocument) });
named.add(PlainResponse, { id: 'PlainResponse' });
export type PlainResponse = z.infer<typeof PlainResponse>;

/** A response in the form that its request asked for. */
export const AnyResponse = z.union([ChatResponse, PlainResponse]);
named.add(AnyResponse, { id: 'AnyResponse' });

/** Leaves out `sequence`: the documents are in order. */
export function toPlain(response: ChatResponse): PlainResponse {
  return { ...response, documents: response.documents.map(plainDocument) };
}

function plainDocument({ id, type, content, metadata }: Document): PlainDocument {
  const outcome = ToolOutcome.safeParse(metadata['result']).data;
  return {
    ...metadata,
    ...(outcome && { status: outcome.status, result: outcome.data }),
    id,
    type,
    ...(content !== null && { content }),
  };
}
