/** Builds documents from events: the one place that defines what a response looks like after a list of events. */
import { factsOf } from './document-types.ts';
import type { ChatResponse, ConversationView, Document, ResponseStatus } from './documents.ts';
import type { AnsweredApproval, ReadEvent, StreamEvent, TapeEvent } from './events.ts';
import type { SubagentAsk } from './subagents.ts';

type ResponseStart = Extract<TapeEvent, { type: 'response_start' }>;

/** A response at the moment it starts. */
export function newResponse(start: ResponseStart['response']): ChatResponse {
  return {
    ...start,
    status: 'streaming',
    documents: [],
    usage: null,
    metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0, ...start.metadata },
  };
}

/** Applies an event to its response, in place. Ignores unknown events and those of documents that it lacks. */
export function foldEvent(response: ChatResponse, event: ReadEvent): void {
  switch (event.type) {
    case 'response_start':
      // A snapshot may have shown the response before.
      if (event.response.id === response.id) Object.assign(response, newResponse(event.response));
      return;
    case 'document_start':
      delete response.metadata.wait;
      response.documents.push(newDocument(event.document));
      return;
    case 'response_model':
      delete response.metadata.wait;
      response.model = event.model;
      return;
    case 'model_wait':
      if (event.responseId === response.id) response.metadata.wait = event.wait;
      return;
    case 'mode_update':
      if (event.responseId === response.id) foldMode(response, event);
      return;
    case 'done':
      if (event.responseId !== response.id) return;
      response.status = event.status;
      response.usage = event.usage;
      response.metadata = event.metadata;
      return;
    case 'plan_update':
      if (event.responseId === response.id) foldPlan(response, event);
      return;
    case 'attached': {
      const { attachments = [] } = response.metadata;
      if (event.responseId !== response.id) return;
      response.metadata.attachments = [...attachments, ...event.attachments];
      return;
    }
    case 'budget_near':
      if (event.responseId === response.id) response.metadata.budget = event.budget;
      return;
    case 'snapshot':
      if (event.snapshot.scope === 'response') Object.assign(response, event.snapshot.response);
      return;
    case 'message':
    case 'message_update':
    case 'steered':
    case 'context_summary':
    case 'conversation_update':
    case 'heartbeat':
    case 'unknown':
      return;
    default: {
      const document = findDocument(response, event.documentId);
      if (!document) return;
      const waited = isWaiting(document);
      foldDocument(document, event);
      if (isInterrupted(document))
        response.documents.splice(response.documents.indexOf(document), 1);
      if (isWaiting(document) !== waited) response.status = unfinishedStatus(response);
      followTodos([response], document, event);
    }
  }
}

/** Applies an event to a whole conversation, in place. */
export function foldConversation(view: ConversationView, event: ReadEvent): void {
  switch (event.type) {
    case 'message':
      view.messages.push(event.message);
      return;
    case 'message_update':
      updateMessage(view, event);
      return;
    case 'steered':
      placeSteers(view, event.responseId);
      return;
    case 'response_start': {
      const shown = view.responses.find(({ id }) => id === event.response.id);
      if (shown) foldEvent(shown, event);
      else view.responses.push(newResponse(event.response));
      return;
    }
    case 'done': {
      const response = view.responses.find(({ id }) => id === event.responseId);
      if (response) foldEvent(response, event);
      else takeBack(view, event.responseId);
      return;
    }
    case 'plan_update': {
      const response = view.responses.find(({ id }) => id === event.responseId);
      if (response) foldEvent(response, event);
      return;
    }
    case 'conversation_update':
      view.title = event.title;
      view.archived = event.archived;
      return;
    case 'snapshot':
      if (event.snapshot.scope === 'conversation') Object.assign(view, event.snapshot.conversation);
      return;
    default: {
      const current = view.responses.at(-1);
      if (!current) return;
      foldEvent(current, event);
      if (event.type !== 'document_end') return;
      followTodos(view.responses, findDocument(current, event.documentId), event);
    }
  }
}

function foldMode(
  response: ChatResponse,
  { mode, ownMode }: Extract<TapeEvent, { type: 'mode_update' }>,
): void {
  response.mode = mode;
  if (ownMode === undefined) delete response.ownMode;
  else response.ownMode = ownMode;
}

function foldPlan(
  response: ChatResponse,
  { documentId, plan }: Extract<TapeEvent, { type: 'plan_update' }>,
): void {
  const document = findDocument(response, documentId);
  if (!document) return;
  const { content, ...metadata } = plan;
  document.content = content;
  Object.assign(document.metadata, metadata);
}

/** Applies a `todo_update` to the todos of the newest plan. */
function followTodos(
  responses: readonly ChatResponse[],
  document: Document | undefined,
  event: StreamEvent,
): void {
  if (event.type !== 'document_end' || document?.type !== 'todo_update') return;
  const plan = responses.flatMap(({ documents }) => documents).findLast(isPlan);
  if (!plan) return;
  const news = new Map(todosOf(document).map((todo) => [todo.id, todo]));
  plan.metadata['todos'] = todosOf(plan).map((todo) => ({ ...todo, ...news.get(todo.id) }));
}

/** The todos as the edge wrote them. Browsers fold too, so no schema checks them here. */
function todosOf({ metadata }: Document): readonly { readonly id: string }[] {
  const todos = metadata['todos'];
  return Array.isArray(todos) ? todos : [];
}

/** Whether the document is a complete plan. */
export function isPlan({ type, metadata }: Document): boolean {
  return type === 'plan' && metadata['todos'] !== undefined;
}

function updateMessage(
  view: ConversationView,
  { responseId, content, imageCount }: Extract<TapeEvent, { type: 'message_update' }>,
): void {
  const message = view.messages.find((other) => other.responseId === responseId && !other.steers);
  if (!message) return;
  message.content = content;
  if (imageCount === undefined) delete message.imageCount;
  else message.imageCount = imageCount;
}

function takeBack(view: ConversationView, responseId: string): void {
  const message = view.messages.find((other) => other.responseId === responseId);
  if (message) message.cancelled = true;
}

function placeSteers(view: ConversationView, responseId: string): void {
  const response = view.responses.find(({ id }) => id === responseId);
  for (const message of view.messages) {
    if (message.responseId !== responseId || !message.steers) continue;
    // Takes the sequence, not the number of documents: a snapshot leaves out interrupted documents.
    message.afterSequence ??= response?.documents.at(-1)?.sequence ?? 0;
  }
}

/** The response as the JSON answer gives it: without documents that a crash cut off. */
export function answerOf(response: ChatResponse): ChatResponse {
  return { ...response, documents: response.documents.filter((each) => !isInterrupted(each)) };
}

/** Whether a crash cut the document off. The turn was asked again, and other documents stand in its place. */
function isInterrupted({ metadata }: Document): boolean {
  return metadata['interrupted'] === true;
}

/** A document at the moment it starts. */
export function newDocument(
  start: Extract<TapeEvent, { type: 'document_start' }>['document'],
): Document {
  const { id, type, sequence } = start;
  return {
    id,
    type,
    sequence,
    content: factsOf(type).text && '',
    metadata: { ...start.metadata },
  };
}

/** Documents are numbered from 1 without gaps, so the id gives the index. Only a damaged answer has gaps. */
export function findDocument(response: ChatResponse, id: string): Document | undefined {
  const document = response.documents[Number(id.slice('doc_'.length)) - 1];
  return document?.id === id ? document : response.documents.find((other) => other.id === id);
}

/** An event of one document after its start. */
export type DocumentEvent = Exclude<
  Extract<TapeEvent, { documentId: string }>,
  { responseId: string }
>;

/** Applies an event to its document, in place. */
export function foldDocument(document: Document, event: DocumentEvent): void {
  const { metadata } = document;
  switch (event.type) {
    case 'content_delta':
      document.content = (document.content ?? '') + event.delta;
      return;
    case 'tool_output':
      metadata['output'] = String(metadata['output'] ?? '') + event.delta;
      return;
    case 'tool_call_start':
      metadata['toolCallId'] = event.toolCallId;
      if (document.type === 'tool_call') metadata['toolName'] = event.toolName;
      return;
    case 'tool_call_arguments':
      if (document.type === 'tool_call') metadata['arguments'] = event.arguments;
      return;
    case 'tool_result':
      if (document.type === 'tool_call' || event.result.status === 'error') {
        metadata['result'] = event.result;
      }
      return;
    case 'approval_request': {
      const { type: _, documentId: __, ...asked } = event;
      metadata['approval'] = asked;
      return;
    }
    case 'approval_resolved': {
      const { decision, by, scope } = event;
      delete metadata['approval'];
      if (decision === 'superseded') return; // Another question follows.
      metadata['answered'] = { decision, by, ...(scope && { scope }) } satisfies AnsweredApproval;
      return;
    }
    case 'clarification_request':
      metadata['questions'] = event.questions;
      metadata['awaiting'] = true;
      return;
    case 'client_call':
      metadata['awaiting'] = true;
      if (event.spent) metadata['spent'] = event.spent;
      return;
    case 'subagent_update':
      metadata['subagent'] = event.subagent;
      return;
    case 'subagent_ask':
      metadata['asks'] = [...asksOf(metadata), event.ask];
      return;
    case 'subagent_answered': {
      const open = asksOf(metadata).filter((ask) => askKeyOf(ask) !== event.key);
      if (open.length > 0) metadata['asks'] = open;
      else delete metadata['asks'];
      return;
    }
    case 'attention':
      return; // The document's end came first and has put it into the metadata.
    case 'document_end':
      delete metadata['awaiting'];
      delete metadata['asks'];
      endSubagent(metadata);
      if (event.finalContent !== undefined) document.content = event.finalContent;
      Object.assign(metadata, event.metadata);
      return;
    default:
      event satisfies never;
  }
}

/** A finished call waits for no subagent: an unfinished one was cancelled. */
function endSubagent(metadata: Document['metadata']): void {
  const state = metadata['subagent'];
  const { status } = Object(state) as { readonly status?: unknown };
  const isUnfinished = status === 'queued' || status === 'streaming' || status === 'waiting';
  if (isUnfinished) metadata['subagent'] = { ...Object(state), status: 'cancelled' };
}

/** A run waits for a person as long as one of its documents has an unanswered approval or question. */
function unfinishedStatus(response: ChatResponse): ResponseStatus {
  return response.documents.some(isWaiting) ? 'waiting' : 'streaming';
}

/** Whether the status of a response is its last one. */
export function isOver(
  status: string,
): status is Extract<ResponseStatus, 'completed' | 'error' | 'cancelled'> {
  return status === 'completed' || status === 'error' || status === 'cancelled';
}

/** Whether the document has a question that no person has answered. */
export function isWaiting({ metadata }: Document): boolean {
  return (
    metadata['approval'] !== undefined || metadata['asks'] !== undefined || isUnanswered(metadata)
  );
}

/** The open questions of the document's subagent and those below it, as the edge wrote them. */
export function asksOf(metadata: Document['metadata']): readonly SubagentAsk[] {
  const asks = metadata['asks'];
  return Array.isArray(asks) ? asks : [];
}

/** Names one question among all: asked anew, it is another one. */
export function askKeyOf(ask: SubagentAsk): string {
  const which = ask.kind === 'approval' ? `${ask.callId} ${ask.nonce}` : ask.documentId;
  return `${ask.conversationId} ${which}`;
}

/** Whether a `clarification` waits for its answer, or a call for the app's result. */
export function isUnanswered(metadata: Document['metadata']): boolean {
  return metadata['awaiting'] === true;
}
