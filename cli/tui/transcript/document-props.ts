/** What the parts get that show one document, by its type. */
import type { ChatResponse, Document } from '../../../client/index.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import type { Look } from './look.ts';

/** Document and response are changed in place. */
export interface ScreenDocumentProps {
  readonly document: Document;
  readonly response: ChatResponse;
  readonly look: Look;
}

/** Whether more of the document's text may come. */
export function isGrowing({ document, response }: ScreenDocumentProps): boolean {
  return !isOver(response.status) && response.documents.at(-1) === document;
}

/** A text of the metadata, which grows while a document streams; empty until it is there. */
export function textIn({ metadata }: Document, name: string): string {
  const value = metadata[name];
  return typeof value === 'string' ? value : '';
}
