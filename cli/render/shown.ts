/** A document as the screen knows it so far. */
import type { Document } from '../../shared/documents.ts';
import type { StreamEvent } from '../../shared/events.ts';
import { askKeyOf } from '../../shared/fold.ts';
import { findTool } from '../../shared/tools/catalogue.ts';

export interface Shown extends Pick<Document, 'id' | 'type' | 'metadata'> {
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
export type DocumentEvent = Exclude<
  Extract<StreamEvent, { documentId: string } | { type: 'document_start' }>,
  { type: 'plan_update' }
>;

/** The document after the event; undefined for an event of a document that never started. */
export function learn(shown: Shown | undefined, event: DocumentEvent): Shown | undefined {
  if (event.type === 'document_start') return newShown(event.document);
  if (!shown) return undefined;
  const { metadata } = shown;
  switch (event.type) {
    case 'content_delta':
      return {
        ...shown,
        content: shown.content + event.delta,
        isBlank: shown.isBlank && event.delta.trim() === '',
      };
    case 'tool_output':
      return withOutput(shown, shown.liveOutput + event.delta);
    case 'tool_call_start':
      return { ...shown, metadata: { ...metadata, toolName: event.toolName } };
    case 'tool_call_arguments':
      return { ...shown, metadata: { ...metadata, ...fromArguments(metadata, event.arguments) } };
    case 'tool_result':
      return { ...shown, metadata: { ...metadata, result: event.result } };
    case 'approval_request':
      return { ...shown, asks: event.nonce };
    case 'approval_resolved':
      return { ...shown, asks: null };
    case 'clarification_request': {
      const asked = { ...metadata, questions: event.questions };
      return { ...shown, asks: event.documentId, metadata: asked };
    }
    case 'subagent_update':
      return { ...shown, metadata: { ...metadata, subagent: event.subagent } };
    case 'subagent_ask':
      return { ...shown, subagentAsks: [...shown.subagentAsks, askKeyOf(event.ask)] };
    case 'subagent_answered':
      return { ...shown, subagentAsks: shown.subagentAsks.filter((key) => key !== event.key) };
    case 'attention':
      return { ...shown, attended: true };
    case 'document_end': {
      const content = event.finalContent ?? shown.content;
      return {
        ...shown,
        ended: true,
        asks: null,
        content,
        metadata: { ...metadata, ...event.metadata },
      };
    }
  }
}

function newShown({ id, type, metadata = {} }: DocumentStart['document']): Shown {
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
  return { id, type, metadata, ...nothing };
}

function withOutput(shown: Shown, liveOutput: string): Shown {
  const outputShown = Math.max(shown.outputShown, liveOutput.lastIndexOf('\n') + 1);
  return { ...shown, liveOutput, outputShown };
}

type DocumentStart = Extract<StreamEvent, { type: 'document_start' }>;

/** The arguments, and the path or the command in them, which the document's own metadata has only at its end. */
function fromArguments(metadata: Shown['metadata'], args: Shown['metadata']): Shown['metadata'] {
  const document = findTool(String(metadata['toolName']))?.document;
  switch (document?.type) {
    case 'file_edit':
      return {
        arguments: args,
        operation: document.operation,
        filePath: args[document.path],
        ...(document.newPath !== undefined && { newPath: args[document.newPath] ?? '?' }),
      };
    case 'terminal_command':
      return { arguments: args, command: args[document.command] };
    default:
      return { arguments: args };
  }
}
