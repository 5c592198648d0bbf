/** Computes the events that bring the screen up to date with a snapshot. */
import { factsOf } from '../../shared/wire/document-types.ts';
import type { ChatResponse, Document } from '../../shared/wire/documents.ts';
import { ToolOutcome } from '../../shared/wire/documents.ts';
import { type StreamEvent, TapeEvent } from '../../shared/wire/events.ts';
import { askKeyOf, asksOf, isOver, isUnanswered } from '../../shared/wire/fold.ts';
import type { Shown } from './shown.ts';

/** Returns undefined if the screen shows something that the snapshot lacks: no event can remove it. */
export function catchUp(
  documents: ReadonlyMap<string, Shown>,
  response: ChatResponse,
): StreamEvent[] | undefined {
  const byId = new Map(response.documents.map((document) => [document.id, document]));
  for (const shown of documents.values()) {
    if (!isPartOf(shown, byId.get(shown.id))) return undefined;
  }
  const hasEnded = isOver(response.status);
  const events = response.documents.flatMap((document, index) => {
    const isLast = index === response.documents.length - 1;
    return documentEvents(documents.get(document.id), document, hasEnded || !isLast);
  });
  return hasEnded ? [...events, doneEvent(response)] : events;
}

function isPartOf(shown: Shown, document: Document | undefined): boolean {
  return document?.type === shown.type && (document.content ?? '').startsWith(shown.content);
}

/** `isPast` says that a text document is complete. The metadata of the other types says it for them. */
function documentEvents(
  shown: Shown | undefined,
  document: Document,
  isPast: boolean,
): StreamEvent[] {
  const attention = shown?.attended ? false : attentionEvent(document);
  if (shown?.ended) return attention ? [attention] : [];
  const { id: documentId, metadata } = document;
  const ends = isComplete(document, isPast);
  const content = (document.content ?? '').slice(shown?.content.length ?? 0);
  const output = ends && !shown?.liveOutput ? '' : unseenOutput(shown, metadata);
  const result = shown?.metadata['result'] ? undefined : ToolOutcome.safeParse(metadata['result']);
  const approval = approvalEvent(document);
  const isNewlyAsked = approval !== undefined && shown?.asks !== approval.nonce;
  const clarification = clarificationEvent(document);
  const events: (StreamEvent | false)[] = [
    !shown && { type: 'document_start', document: withoutContent(document) },
    content !== '' && { type: 'content_delta', documentId, delta: content },
    output !== '' && { type: 'tool_output', documentId, delta: output },
    result?.success === true && { type: 'tool_result', documentId, result: result.data },
    isNewlyAsked && approval,
    clarification !== undefined && shown?.asks !== documentId && clarification,
    ...subagentEvents(shown, document),
    ends && { type: 'document_end', documentId, metadata },
    ends && attention,
  ];
  return events.filter((event) => event !== false);
}

/** The questions of the document's subagents that the screen lacks. */
function subagentEvents(shown: Shown | undefined, { id, metadata }: Document): StreamEvent[] {
  return asksOf(metadata)
    .filter((ask) => !shown?.subagentAsks.includes(askKeyOf(ask)))
    .map((ask) => ({ type: 'subagent_ask', documentId: id, ask }));
}

function withoutContent({ id, type, sequence, metadata }: Document) {
  return { id, type, sequence, metadata };
}

/** Live output is bounded, and replaced by its head and tail at the end. The screen shows enough of it then. */
function unseenOutput(shown: Shown | undefined, metadata: Document['metadata']): string {
  const output = String(metadata['output'] ?? '');
  const seen = shown?.liveOutput ?? '';
  return output.startsWith(seen) ? output.slice(seen.length) : '';
}

/** Looks at the metadata, because calls that run in parallel end in any order. */
function isComplete({ type, metadata }: Document, isPast: boolean): boolean {
  if (metadata['result'] !== undefined || metadata['interrupted'] === true) return true;
  const { finishedBy } = factsOf(type);
  if (finishedBy === null) return isPast;
  const isSkipped = type === 'clarification' && isPast && !isUnanswered(metadata);
  return isSkipped || finishedBy.some((field) => metadata[field] !== undefined);
}

export type ApprovalEvent = Extract<StreamEvent, { type: 'approval_request' }>;
export type ClarificationEvent = Extract<StreamEvent, { type: 'clarification_request' }>;

/** The approval that a document waits for, rebuilt from the metadata of the fold. */
export function approvalEvent({ id, metadata }: Document): ApprovalEvent | undefined {
  const event = { type: 'approval_request', documentId: id, ...Object(metadata['approval']) };
  const parsed = TapeEvent.safeParse(event).data;
  return parsed?.type === 'approval_request' ? parsed : undefined;
}

/** The items that a command left behind. */
function attentionEvent({ id, metadata }: Document): StreamEvent | false {
  const event = { type: 'attention', documentId: id, items: metadata['newlyProtected'] };
  return TapeEvent.safeParse(event).data ?? false;
}

/** The agent's questions that a document waits for. */
export function clarificationEvent({ id, metadata }: Document): ClarificationEvent | undefined {
  if (!isUnanswered(metadata)) return undefined;
  const event = { type: 'clarification_request', documentId: id, questions: metadata['questions'] };
  const parsed = TapeEvent.safeParse(event).data;
  return parsed?.type === 'clarification_request' ? parsed : undefined;
}

function doneEvent({ id, status, usage, metadata }: ChatResponse): StreamEvent {
  return { type: 'done', responseId: id, status, usage, metadata };
}
