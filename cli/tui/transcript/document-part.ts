/** One document of an answer, by its type. */
import { Markdown, wrapTextWithAnsi } from '@earendil-works/pi-tui';
import type { ChatResponse, Document, DocumentType } from '../../../client/index.ts';
import { printable } from '../../../shared/text/plain-sight.ts';
import { Cached } from './cached.ts';
import type { Look } from './look.ts';
import type { Part } from './part.ts';

/** What a part needs of its document. Both are changed in place. */
export interface DocumentProps {
  readonly document: Document;
  readonly response: ChatResponse;
  readonly look: Look;
}

/** A part that shows the document as it is at each time that it is drawn. */
export function documentPart(document: Document, response: ChatResponse, look: Look): Part {
  const props = { document, response, look };
  return (PARTS[document.type] ?? plainPart)(props);
}

/** A later server may send more types than these. */
const PARTS: Readonly<Record<DocumentType, (props: DocumentProps) => Part>> = {
  text: textPart,
  reasoning: plainPart,
  code_block: plainPart,
  code_reference: plainPart,
  file_edit: plainPart,
  terminal_command: plainPart,
  tool_call: plainPart,
  plan: plainPart,
  clarification: plainPart,
  error: plainPart,
  todo_update: plainPart,
};

function textPart({ document, look }: DocumentProps): Part {
  const markdown = new Markdown('', 0, 0, look.markdown);
  return new Cached((width) => {
    markdown.setText(printable(document.content ?? ''));
    return ['', ...markdown.render(width)];
  });
}

function plainPart({ document, look: { paint } }: DocumentProps): Part {
  return new Cached((width) => {
    const text = document.content ?? JSON.stringify(document.metadata);
    return [
      '',
      paint('dim', document.type),
      ...wrapTextWithAnsi(printable(text), width).map((line) => `${line}`),
    ];
  });
}
