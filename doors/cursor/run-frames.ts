/** Translates the events of a run into the frames of Cursor's stream. Pure. */

import type { PositionedEvent } from '../../shared/api/reader-socket.ts';
import { Rendering } from '../../shared/shown/markdown.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { CursorRunEvent } from './schemas.ts';

/** A frame without an id does not change the client's Last-Event-ID. */
export function formatFrame({ event, data }: CursorRunEvent, id?: string): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`;
}

/** A call that is shown once its arguments are known. */
interface FramedCall {
  readonly callId: string;
  readonly name: string;
  args?: Readonly<Record<string, unknown>>;
}

/**
 * Reads a run's events from its beginning, and makes frames of those after the position `seen`, where the client
 * stopped. The gaps between documents and the names of calls follow from the events before it. An `interaction_update`
 * with the same id repeats each frame of `assistant`, `thinking` and `tool_call`: Cursor's own client resumes only
 * behind those.
 */
export class RunFrames {
  readonly #ordinal: number;
  readonly #seen: number;
  /** The position after the last event that was read. */
  position = 0;
  /** Whether the run must be read again from its beginning, because a crash took back a part of it. */
  isTorn = false;
  readonly #rendering = new Rendering();
  /** By the id of the document. */
  readonly #calls = new Map<string, FramedCall>();

  constructor(ordinal: number, seen: number) {
    this.#ordinal = ordinal;
    this.#seen = seen;
  }

  /** The id of the last frame. */
  get id(): string {
    return `${Math.max(this.position, this.#seen)}-${this.#ordinal}`;
  }

  /** The frames of these events. */
  take(events: readonly PositionedEvent[]): string {
    return events.map((event) => this.#see(event)).join('');
  }

  #see({ event, position }: PositionedEvent): string {
    if (event.type === 'snapshot') this.isTorn = true;
    if (this.isTorn || position === null || position <= this.position) return '';
    this.position = position;
    if (event.type === 'content_delta') this.#addContent(event, position);
    else if (!startsCall(event)) this.#rendering.see(event);
    const frames = [...this.#newCall(event), ...this.#newWords()];
    return position > this.#seen ? frames.map((frame) => formatFrame(frame, this.id)).join('') : '';
  }

  /** Splits the text where the client stopped. */
  #addContent({ documentId, delta }: Extract<StreamEvent, { type: 'content_delta' }>, end: number) {
    const known = Math.max(0, this.#seen - (end - delta.length));
    if (known > 0) {
      this.#rendering.add(documentId, delta.slice(0, known));
      this.#rendering.take();
    }
    this.#rendering.add(documentId, delta.slice(known));
  }

  #newCall(event: StreamEvent): CursorRunEvent[] {
    switch (event.type) {
      case 'tool_call_start':
        this.#calls.set(event.documentId, { callId: event.toolCallId, name: event.toolName });
        return [];
      case 'tool_call_arguments': {
        const call = this.#calls.get(event.documentId);
        if (!call) return [];
        call.args = event.arguments;
        return callFrames(call);
      }
      case 'tool_result': {
        const call = this.#calls.get(event.documentId);
        this.#calls.delete(event.documentId);
        return call?.args ? callFrames(call, event.result) : [];
      }
      case 'document_start':
      case 'content_delta':
      case 'document_end':
        return []; // Their words have frames.
      case 'message':
      case 'message_update':
      case 'steered':
      case 'attached':
      case 'response_start':
      case 'response_model':
      case 'model_wait':
      case 'mode_update':
      case 'context_summary':
      case 'budget_near':
      case 'tool_output':
      case 'attention':
      case 'approval_request':
      case 'approval_resolved':
      case 'clarification_request':
      case 'client_call':
      case 'subagent_update':
      case 'subagent_ask':
      case 'subagent_answered':
      case 'plan_update':
      case 'conversation_update':
      case 'done':
      case 'snapshot':
      case 'heartbeat':
        return []; // Cursor's stream has no frames for these.
      default:
        return event satisfies never;
    }
  }

  #newWords(): CursorRunEvent[] {
    const { reasoning, content } = this.#rendering.take();
    return [...wordFrames('thinking', reasoning), ...wordFrames('assistant', content)];
  }
}

/** Whether a document of a tool starts. The text that a plan has is no part of what the model says. */
function startsCall(event: StreamEvent): boolean {
  return event.type === 'document_start' && factsOf(event.document.type).finishedBy !== null;
}

function wordFrames(event: 'assistant' | 'thinking', text: string): CursorRunEvent[] {
  if (text === '') return [];
  const type = event === 'assistant' ? 'text-delta' : 'thinking-delta';
  return [
    { event, data: { text } },
    { event: 'interaction_update', data: { type, text } },
  ];
}

type ShownOutcome = Extract<StreamEvent, { type: 'tool_result' }>['result'];

/** `result` is absent while the call runs. */
function callFrames({ callId, name, args }: FramedCall, result?: ShownOutcome): CursorRunEvent[] {
  const status = result ? 'completed' : 'running';
  const type = result ? 'tool-call-completed' : 'tool-call-started';
  const toolCall = {
    type: 'mcp',
    args: { providerIdentifier: 'drawbridge', toolName: name, args },
    ...(result && { result: toMcpResult(result) }),
  };
  return [
    { event: 'tool_call', data: { callId, name, status, args, ...(result && { result }) } },
    { event: 'interaction_update', data: { type, callId, modelCallId: callId, toolCall } },
  ];
}

/** Cursor's form of the result of a tool that Cursor does not know. */
function toMcpResult({ status, data }: ShownOutcome): object {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  if (status === 'error') return { status, error: { message: text } };
  return { status, value: { content: [{ text: { text } }], isError: false } };
}
