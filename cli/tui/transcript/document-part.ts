/** One document of an answer, by its type. */
import { type Component, Container } from '@earendil-works/pi-tui';
import type { ChatResponse, Document, DocumentType } from '../../../client/index.ts';
import { isShownByCall } from '../../render/result-text.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { askedLines } from './asked-lines.ts';
import { Cached } from './cached.ts';
import { callPart } from './call-part.ts';
import { codePart, referencePart } from './code-part.ts';
import { commandPart } from './command-part.ts';
import type { ScreenDocumentProps } from './document-props.ts';
import { editPart } from './edit-part.ts';
import { errorPart } from './error-part.ts';
import { GrowingMarkdown } from './growing-markdown.ts';
import { wrapped } from './lines.ts';
import type { Look } from './look.ts';
import { planPart, todosPart } from './plan-part.ts';
import { questionsPart } from './questions-part.ts';
import { reasoningPart } from './reasoning-part.ts';

/** A part that shows the document as it is at each time that it is drawn. */
export function documentPart(document: Document, response: ChatResponse, look: Look): Component {
  const props = { document, response, look };
  const part = new Container();
  part.addChild(
    new Cached(() => {
      const { documents } = response;
      const before = documents[documents.indexOf(document) - 1];
      // Calls in a row are one list, without empty lines between them.
      const followsCall = document.type === 'tool_call' && before?.type === 'tool_call';
      return followsCall || isShownByCall(document, response) ? [] : [''];
    }),
  );
  part.addChild((PARTS[document.type] ?? unknownPart)(props));
  part.addChild(new Cached((width) => askedLines(props, width)));
  return part;
}

/** A later server may send more types than these. */
const PARTS: Readonly<Record<DocumentType, (props: ScreenDocumentProps) => Component>> = {
  text: ({ document, look }) => new GrowingMarkdown(() => document.content ?? '', look),
  reasoning: reasoningPart,
  code_block: codePart,
  code_reference: referencePart,
  file_edit: editPart,
  terminal_command: commandPart,
  tool_call: callPart,
  plan: planPart,
  clarification: questionsPart,
  error: errorPart,
  todo_update: todosPart,
};

/** A document of a type that this version does not know. */
function unknownPart({ document, look: { paint } }: ScreenDocumentProps): Component {
  return new Cached((width) => {
    const { type, content } = document;
    const words = `This version does not know “${shortLine(type)}”.`;
    return [paint('dim', words), ...(content ? wrapped(content, width) : [])];
  });
}
