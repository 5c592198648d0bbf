/** What an editor has not been sent of a conversation, as updates of the Agent Client Protocol. */
import type { PlanEntry, SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type {
  ChatResponse,
  ConversationView,
  Document,
  ReadEvent,
  UserMessage,
} from '../../client/index.ts';
import { Rendering } from '../../shared/shown/markdown.ts';
import { todosIn } from '../../shared/shown/todos.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import { Answer, Question } from '../../shared/wire/documents.ts';
import { findDocument, isOver } from '../../shared/wire/fold.ts';
import { answerTo } from '../render/clarification.ts';
import { isShownByCall } from '../render/result-text.ts';
import { shownCall, toolCallIdOf } from './tool-calls.ts';

/** Documents in a row with the same voice: one message for the editor. */
interface Voice {
  readonly kind: 'agent_message_chunk' | 'agent_thought_chunk';
  readonly messageId: string;
  readonly rendering: Rendering;
  /** The last document that it has. */
  openId: string;
}

/**
 * It compares what there is with what was sent. So it needs no event that was lost with a connection: after a snapshot
 * it sends what the snapshot has more. What a crash takes back stays sent, and what comes instead is a new message.
 */
export class EditorTranscript {
  readonly #folder: string;
  /** By document. */
  readonly #voices = new Map<string, Voice>();
  /** What was sent of each call: it as JSON, and whether it is over. */
  readonly #calls = new Map<string, { readonly sent: string; readonly isOver: boolean }>();
  /** Messages and other texts that are sent whole. */
  readonly #said = new Set<string>();
  /** Responses that are complete and sent. */
  readonly #settled = new Set<string>();
  #plan = '[]';

  /** `folder` is the workspace: an editor takes absolute paths only. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The message of this response came from the editor, which shows it already. */
  omitMessage(responseId: string): void {
    this.#said.add(responseId);
  }

  /** What the editor lacks. `event` is what has just changed; null where it may be anything. */
  take(view: ConversationView, event: ReadEvent | null): SessionUpdate[] {
    const last = view.responses.at(-1);
    const changed = last && documentOf(last, event);
    const updates = changed
      ? this.#document(last, changed)
      : view.responses
          .filter(({ id }) => !this.#settled.has(id))
          .flatMap((response) => this.#response(view, response));
    return mayChangePlan(event) ? [...updates, ...this.#planOf(view)] : updates;
  }

  /** Counts all that there is as sent. Calls that are not over are sent anew with their next change. */
  skip(view: ConversationView): void {
    this.take(view, null);
    for (const [id, { isOver: hasEnded }] of this.#calls) {
      if (!hasEnded) this.#calls.delete(id);
    }
  }

  #response({ messages }: ConversationView, response: ChatResponse): SessionUpdate[] {
    const { id, documents, status } = response;
    const own = messages.filter((each) => each.responseId === id && !each.preview);
    const steers = own.filter(({ steers: isSteer }) => isSteer);
    const readBefore = (sequence: number) =>
      steers.filter(({ afterSequence = sequence }) => afterSequence < sequence);
    const updates = [
      ...own.filter(({ steers: isSteer }) => !isSteer).flatMap((each) => this.#message(each, id)),
      ...documents.flatMap((document) => [
        ...readBefore(document.sequence).flatMap((each) => this.#steer(each, steers)),
        ...this.#document(response, document),
      ]),
      ...readBefore(Number.POSITIVE_INFINITY).flatMap((each) => this.#steer(each, steers)),
      ...this.#takenBack(response),
    ];
    if (isOver(status)) this.#settle(id);
    return updates;
  }

  #settle(id: string): void {
    this.#settled.add(id);
    for (const known of [this.#voices, this.#calls, this.#said]) {
      for (const key of known.keys()) if (key.startsWith(`${id}/`)) known.delete(key);
    }
  }

  #steer(message: UserMessage, steers: readonly UserMessage[]): SessionUpdate[] {
    return this.#message(message, `${message.responseId}/steer-${steers.indexOf(message)}`);
  }

  #message({ content, imageCount }: UserMessage, messageId: string): SessionUpdate[] {
    const images = imageCount === undefined ? '' : `\n\n(with ${imageCount} images)`;
    return this.#once('user_message_chunk', messageId, `${content}${images}`);
  }

  #document(response: ChatResponse, document: Document): SessionUpdate[] {
    const key = toolCallIdOf(response.id, document.id);
    if (factsOf(document.type).voice !== null) return this.#speak(response, document, key);
    if (document.type === 'error' && !isShownByCall(document, response)) {
      return isAtEnd(response, document)
        ? this.#once('agent_message_chunk', key, errorText(document))
        : [];
    }
    if (document.type === 'clarification') return this.#answers(document, key);
    return this.#call(document, key);
  }

  #speak(response: ChatResponse, document: Document, key: string): SessionUpdate[] {
    let voice = this.#voices.get(key);
    if (!voice) {
      voice = this.#voiceOf(response, document, key);
      voice.openId = document.id;
      this.#voices.set(key, voice);
    }
    voice.rendering.grow(document, isAtEnd(response, document));
    const words = voice.rendering.take();
    return textUpdate(voice.kind, voice.messageId, words.content + words.reasoning);
  }

  /** That of the document before, where it has the same; else a new one. */
  #voiceOf(response: ChatResponse, document: Document, key: string): Voice {
    const { voice } = factsOf(document.type);
    const kind = voice === 'answer' ? 'agent_message_chunk' : 'agent_thought_chunk';
    const before = response.documents[response.documents.indexOf(document) - 1];
    const last = before && this.#voices.get(toolCallIdOf(response.id, before.id));
    // A crash may have taken back what was said last.
    if (last?.kind === kind && last.openId === before?.id) return last;
    return { kind, messageId: key, rendering: new Rendering(), openId: document.id };
  }

  #call(document: Document, toolCallId: string): SessionUpdate[] {
    const call = shownCall(document, this.#folder);
    const before = this.#calls.get(toolCallId);
    const sent = JSON.stringify(call);
    if (!call || sent === before?.sent) return [];
    const { status } = call;
    this.#calls.set(toolCallId, { sent, isOver: status === 'completed' || status === 'failed' });
    if (!before) return [{ sessionUpdate: 'tool_call', toolCallId, ...call }];
    return [{ sessionUpdate: 'tool_call_update', toolCallId, ...call }];
  }

  /** Calls that a crash has taken back. */
  #takenBack({ id, documents }: ChatResponse): SessionUpdate[] {
    const there = new Set(documents.map((document) => toolCallIdOf(id, document.id)));
    const gone = [...this.#calls.keys()].filter(
      (key) => key.startsWith(`${id}/`) && !there.has(key),
    );
    return gone.map((toolCallId) => {
      this.#calls.delete(toolCallId);
      return failedCall(toolCallId);
    });
  }

  #answers({ metadata }: Document, key: string): SessionUpdate[] {
    const { questions, answers } = Answered.safeParse(metadata).data ?? {};
    if (!questions || !answers) return [];
    const lines = questions.map((each) => `- ${each.text} → ${answerTo(each, answers)}`);
    return this.#once('agent_message_chunk', key, lines.join('\n'));
  }

  #once(kind: Voice['kind'] | 'user_message_chunk', key: string, text: string): SessionUpdate[] {
    if (this.#said.has(key)) return [];
    this.#said.add(key);
    return textUpdate(kind, key, text);
  }

  /** A view of the newest part may lack the plan, which then stays as it was sent. */
  #planOf({ responses, earlier }: ConversationView): SessionUpdate[] {
    const entries = [...todosIn(responses).values()].flatMap(({ content, status }): PlanEntry[] =>
      content === undefined || status === 'cancelled'
        ? []
        : [{ content, status, priority: 'medium' }],
    );
    const now = JSON.stringify(entries);
    if (now === this.#plan || (entries.length === 0 && earlier !== null)) return [];
    this.#plan = now;
    return [{ sessionUpdate: 'plan', entries }];
  }
}

const Answered = z.object({ questions: z.array(Question), answers: z.array(Answer) });

/** The document that the event has changed, if that is all it has changed. */
function documentOf(response: ChatResponse, event: ReadEvent | null): Document | undefined {
  if (!event || !('documentId' in event) || event.type === 'plan_update') return undefined;
  return findDocument(response, event.documentId);
}

function mayChangePlan(event: ReadEvent | null): boolean {
  return event === null || PLANNING.has(event.type);
}

const PLANNING: ReadonlySet<ReadEvent['type']> = new Set([
  ...(['document_end', 'plan_update', 'snapshot'] as const),
]);

/** Whether no more text comes to the document. */
function isAtEnd({ documents, status }: ChatResponse, document: Document): boolean {
  return isOver(status) || documents.at(-1) !== document;
}

function errorText({ content, metadata }: Document): string {
  const { errorCode, details } = metadata;
  return `**Error ${String(errorCode)}:** ${content || String(details ?? '')}`;
}

function failedCall(toolCallId: string): ToolCallUpdate & { sessionUpdate: 'tool_call_update' } {
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' };
}

function textUpdate(
  sessionUpdate: Voice['kind'] | 'user_message_chunk',
  messageId: string,
  text: string,
): SessionUpdate[] {
  return text === '' ? [] : [{ sessionUpdate, messageId, content: { type: 'text', text } }];
}
