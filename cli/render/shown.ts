/** A document as the screen knows it so far. */

import { findTool } from '../../shared/tools/catalogue.ts';
import { documentOf, metadataOfArguments } from '../../shared/tools/definition.ts';
import type { Document } from '../../shared/wire/documents.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { askKeyOf, foldDocument, newDocument } from '../../shared/wire/fold.ts';

export interface Shown extends Pick<Document, 'id' | 'type' | 'sequence' | 'metadata'> {
  readonly content: string;
  /** Whether the content so far is only white space. */
  readonly isBlank: boolean;
  /** What a command wrote while it ran. */
  readonly liveOutput: string;
  /** UTF-16 units of `liveOutput` on the screen: whole lines only, because the last line may still be rewritten. */
  readonly outputShown: number;
  /** The open question: the nonce of an approval, or the document's id if the agent asks. */
  readonly asks: string | null;
  /** The keys of the questions of its subagents that were shown and are open. */
  readonly subagentAsks: readonly string[];
  readonly ended: boolean;
  /** Whether the screen has shown what the command left behind. */
  readonly attended: boolean;
}

/** An event of one document. Only `document_start` has no `documentId`. */
export type ShownEvent = Exclude<
  Extract<StreamEvent, { documentId: string } | { type: 'document_start' }>,
  { type: 'plan_update' }
>;

/** The document after the event; undefined for an event of a document that never started. */
export function learn(shown: Shown | undefined, event: ShownEvent): Shown | undefined {
  if (event.type === 'document_start') return newShown(newDocument(event.document));
  if (!shown) return undefined;
  // The fold works in place, and the document before the event is still of use.
  const document: Document = { ...shown, metadata: { ...shown.metadata } };
  foldDocument(document, event);
  const { content, metadata } = document;
  return { ...shown, content: content ?? '', metadata, ...newsOf(shown, metadata, event) };
}

function newShown({ id, type, sequence, metadata }: Document): Shown {
  const nothing = {
    content: '',
    isBlank: true,
    liveOutput: '',
    outputShown: 0,
    asks: null,
    subagentAsks: [],
    ended: false,
    attended: false,
  };
  return { id, type, sequence, metadata, ...nothing };
}

/** What an event changes on the screen, besides the document itself. `metadata` is that after the event. */
function newsOf(
  shown: Shown,
  metadata: Shown['metadata'],
  event: Exclude<ShownEvent, DocumentStart>,
): Partial<Shown> {
  switch (event.type) {
    case 'content_delta':
      return { isBlank: shown.isBlank && event.delta.trim() === '' };
    case 'tool_output':
      return withOutput(shown, shown.liveOutput + event.delta);
    // A command or an edit has these in its own metadata only at its end. The screen shows them before.
    case 'tool_call_start':
      return { metadata: { ...metadata, toolName: event.toolName } };
    case 'tool_call_arguments':
      return { metadata: { ...metadata, ...fromArguments(metadata, event.arguments) } };
    case 'tool_result':
      return { metadata: { ...metadata, result: event.result } };
    case 'approval_request':
      return { asks: event.nonce };
    case 'approval_resolved':
      return { asks: null };
    case 'clarification_request':
      return { asks: event.documentId };
    case 'subagent_ask':
      return { subagentAsks: [...shown.subagentAsks, askKeyOf(event.ask)] };
    case 'subagent_answered':
      return { subagentAsks: shown.subagentAsks.filter((key) => key !== event.key) };
    case 'attention':
      return { attended: true };
    case 'document_end':
      return { ended: true, asks: null };
    case 'client_call':
    case 'subagent_update':
      return {};
    default:
      return event satisfies never;
  }
}

function withOutput(shown: Shown, liveOutput: string): Partial<Shown> {
  const outputShown = Math.max(shown.outputShown, liveOutput.lastIndexOf('\n') + 1);
  return { liveOutput, outputShown };
}

type DocumentStart = Extract<StreamEvent, { type: 'document_start' }>;

/** The arguments, and the path or the command in them, which the document's own metadata has only at its end. */
function fromArguments(metadata: Shown['metadata'], args: Shown['metadata']): Shown['metadata'] {
  const tool = metadata['isOfApp'] ? undefined : findTool(String(metadata['toolName']));
  const document = documentOf(tool);
  const textOf = (argument: string) =>
    args[argument] === undefined ? undefined : String(args[argument]);
  return { arguments: args, ...metadataOfArguments(document, textOf) };
}
