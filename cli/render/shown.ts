/**
 * What a terminal has shown of an answer. Each event adds to it ({@link learn}). A snapshot is the newest state, and
 * what the terminal lacks of it are the events that would have shown it ({@link missingEvents}).
 */
import { findTool } from '../../shared/tools/catalogue.ts';
import { documentOf, metadataOfArguments } from '../../shared/tools/definition.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import { type ChatResponse, type Document, ToolOutcome } from '../../shared/wire/documents.ts';
import { type StreamEvent, TapeEvent } from '../../shared/wire/events.ts';
import {
  askKeyOf,
  asksOf,
  foldDocument,
  isOver,
  isUnanswered,
  newDocument,
} from '../../shared/wire/fold.ts';

/** A document as the shown events have left it. Its metadata has the questions that were shown and are open. */
export interface Shown extends Pick<Document, 'id' | 'type' | 'sequence' | 'metadata'> {
  readonly content: string;
  /** Whether the content so far is only white space. */
  readonly isBlank: boolean;
  /** What a command wrote while it ran. */
  readonly liveOutput: string;
  /** UTF-16 units of `liveOutput` on the screen: whole lines only, because the last line may still be rewritten. */
  readonly outputShown: number;
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
export function learn(before: Shown | undefined, event: ShownEvent): Shown | undefined {
  if (event.type === 'document_start') {
    const { id, type, sequence, metadata } = newDocument(event.document);
    const output = { liveOutput: '', outputShown: 0 };
    const ends = { ended: false, attended: false };
    return { id, type, sequence, metadata, content: '', isBlank: true, ...output, ...ends };
  }
  if (!before) return undefined;
  // The fold works in place, and the document before the event is still of use.
  const document: Document = { ...before, metadata: { ...before.metadata } };
  foldDocument(document, event);
  const { content, metadata } = document;
  const shown: Shown = { ...before, content: content ?? '', metadata };
  switch (event.type) {
    case 'content_delta':
      return { ...shown, isBlank: before.isBlank && event.delta.trim() === '' };
    case 'tool_output': {
      const liveOutput = before.liveOutput + event.delta;
      const outputShown = Math.max(before.outputShown, liveOutput.lastIndexOf('\n') + 1);
      return { ...shown, liveOutput, outputShown };
    }
    // A command or an edit has these in its own metadata only at its end. The screen shows them before.
    case 'tool_call_start':
      return { ...shown, metadata: { ...metadata, toolName: event.toolName } };
    case 'tool_call_arguments':
      return { ...shown, metadata: { ...metadata, ...fromArguments(metadata, event.arguments) } };
    case 'tool_result':
      return { ...shown, metadata: { ...metadata, result: event.result } };
    case 'attention':
      return { ...shown, attended: true };
    case 'document_end':
      return { ...shown, ended: true };
    case 'approval_request':
    case 'approval_resolved':
    case 'clarification_request':
    case 'subagent_ask':
    case 'subagent_answered':
    case 'subagent_update':
    case 'client_call':
      return shown;
    default:
      return event satisfies never;
  }
}

/** The arguments, and the path or the command in them, which the document's own metadata has only at its end. */
function fromArguments(metadata: Shown['metadata'], args: Shown['metadata']): Shown['metadata'] {
  const tool = metadata['isOfApp'] ? undefined : findTool(String(metadata['toolName']));
  const textOf = (argument: string) =>
    args[argument] === undefined ? undefined : String(args[argument]);
  return { arguments: args, ...metadataOfArguments(documentOf(tool), textOf) };
}

/** Undefined if the terminal shows something that the response lacks: no event can remove it. */
export function missingEvents(
  documents: ReadonlyMap<string, Shown>,
  response: ChatResponse,
): StreamEvent[] | undefined {
  const byId = new Map(response.documents.map((document) => [document.id, document]));
  for (const { id, type, content } of documents.values()) {
    const document = byId.get(id);
    if (document?.type !== type || !(document.content ?? '').startsWith(content)) return undefined;
  }
  const { id: responseId, status, usage, metadata } = response;
  const hasEnded = isOver(status);
  const last = response.documents.at(-1);
  const missing = response.documents.flatMap((document) => [
    ...missingOf(documents.get(document.id), document, hasEnded || document !== last),
  ]);
  return hasEnded ? [...missing, { type: 'done', responseId, status, usage, metadata }] : missing;
}

/** In the order in which a run sends them. `isPast`: nothing more is added to the document's text. */
function* missingOf(
  shown: Shown | undefined,
  document: Document,
  isPast: boolean,
): Generator<StreamEvent> {
  const { id: documentId, type, sequence, content, metadata } = document;
  const ends = isComplete(document, isPast);
  if (!shown?.ended) {
    const start = { id: documentId, type, sequence, metadata };
    if (!shown) yield { type: 'document_start', document: start };
    const text = (content ?? '').slice(shown?.content.length ?? 0);
    if (text !== '') yield { type: 'content_delta', documentId, delta: text };

    // At its end, the output that a command wrote live becomes its head and tail: the end shows enough of it.
    const [output, seen] = [String(metadata['output'] ?? ''), shown?.liveOutput ?? ''];
    const isLive = (!ends || seen !== '') && output.startsWith(seen) && output !== seen;
    if (isLive) yield { type: 'tool_output', documentId, delta: output.slice(seen.length) };

    const { data: result } = ToolOutcome.safeParse(metadata['result']);
    if (result && !shown?.metadata['result']) yield { type: 'tool_result', documentId, result };

    const question = questionOf(document);
    if (question && !(shown && isAsked(question, shown))) yield question;
    const askedBelow = new Set(shown && asksOf(shown.metadata).map(askKeyOf));
    for (const ask of asksOf(metadata)) {
      if (!askedBelow.has(askKeyOf(ask))) yield { type: 'subagent_ask', documentId, ask };
    }
    if (ends) yield { type: 'document_end', documentId, metadata };
  }
  const items = metadata['newlyProtected'];
  const attention = TapeEvent.safeParse({ type: 'attention', documentId, items }).data;
  if (attention && !shown?.attended && (ends || shown?.ended)) yield attention;
}

/** Looks at the metadata, because calls that run in parallel end in any order. */
function isComplete({ type, metadata }: Document, isPast: boolean): boolean {
  if (metadata['result'] !== undefined || metadata['interrupted'] === true) return true;
  const { finishedBy } = factsOf(type);
  if (finishedBy === null) return isPast;
  const isSkipped = type === 'clarification' && isPast && !isUnanswered(metadata);
  return isSkipped || finishedBy.some((field) => metadata[field] !== undefined);
}

/** The event by which a document asks a person. */
export type AskingEvent = Extract<
  StreamEvent,
  { type: 'approval_request' | 'clarification_request' }
>;

/** What the document itself asks a person, as the event that asked it. */
export function questionOf({ id: documentId, metadata }: Document): AskingEvent | undefined {
  const { approval, questions } = metadata;
  if (approval === undefined && !isUnanswered(metadata)) return undefined;
  const event =
    approval === undefined
      ? { type: 'clarification_request', documentId, questions }
      : { ...Object(approval), type: 'approval_request', documentId };
  const parsed = TapeEvent.safeParse(event).data;
  const isAsking = parsed?.type === 'approval_request' || parsed?.type === 'clarification_request';
  return isAsking ? parsed : undefined;
}

function isAsked(question: AskingEvent, { metadata }: Shown): boolean {
  if (question.type === 'clarification_request') return isUnanswered(metadata);
  return Object(metadata['approval']).nonce === question.nonce;
}
