/** Maps the events of one response to the chunks of the AI SDK's UI message stream. Pure. */
import type { UIMessageChunk as Chunk } from 'ai';
import { type RenderedDocument, Rendering } from '../../shared/shown/markdown.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import type { ChatResponse, Document, Usage } from '../../shared/wire/documents.ts';
import type { StreamEvent, TapeEvent } from '../../shared/wire/events.ts';
import { findDocument } from '../../shared/wire/fold.ts';
import { ResponseFold } from '../../worker/door-reading.ts';
import { toClientCalls } from '../openai/client-tools.ts';
import { usageOfAnswer } from '../words/answer-usage.ts';
import { clientCallsIn } from '../words/client-calls.ts';
import { endingOf } from '../words/ending.ts';
import { Pieces } from './pieces.ts';

/** What a message's `metadata` says once it is complete. */
export interface UiMetadata {
  readonly conversationId: string;
  readonly model?: string;
  readonly usage?: UiUsage | null;
}

/** The newest prompt and all words of the answer, with the cost of all requests. */
export type UiUsage = Omit<Usage, 'cacheWriteTokens' | 'unreportedRequests'>;

export type UiChunk = Chunk<UiMetadata, { document: Document }>;

type TapeEventOf<Type extends TapeEvent['type']> = Extract<TapeEvent, { type: Type }>;

/** What a response says of a document while it runs. */
type StepEvent =
  | TapeEventOf<'document_start'>
  | Exclude<Extract<TapeEvent, { documentId: string }>, { type: 'plan_update' }>;

/**
 * Takes every event of a response from the beginning. The same tape gives the same chunks, however its deltas are split
 * and merged.
 *
 * A step is a turn of the model. The tape does not mark turns: a document that starts when all calls of the step have
 * ended begins another one.
 */
export class Chunks {
  /** Whether `response_start` was seen. */
  hasBegun = false;
  readonly #fold = new ResponseFold();
  readonly #conversationId: string;
  readonly #after: number;
  #out: UiChunk[];
  /** The events of the open step's documents; null while no step is open. */
  #step: StepEvent[] | null = null;
  /** Whether the reader has parts of the step. After a `reset-step` it has none. */
  #isShown = false;
  /** The calls of the open step, by document. */
  #calls = new Map<string, StreamedCall>();
  /** Documents whose text is being sent. */
  #speeches = new Map<string, Speech>();
  /** The part that a text or thought which comes next goes on with. */
  #speech: Speech | null = null;

  /** Leaves out the documents up to the sequence `after`, which the message has. */
  constructor(responseId: string, conversationId: string, after = 0) {
    this.#conversationId = conversationId;
    this.#after = after;
    this.#out = [{ type: 'start', messageId: responseId, messageMetadata: { conversationId } }];
  }

  /** The chunks since the last call. */
  take(): UiChunk[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  /** Ends the message for now if only the results of the app's calls are missing. Returns whether it did. */
  pause(): boolean {
    if (clientCallsIn(this.#fold, this.#after).length === 0) return false;
    this.#finish(this.#fold.response);
    return true;
  }

  see(event: StreamEvent): void {
    this.#fold.see(event);
    const documentId = documentIdOf(event) ?? '';
    if (Number(documentId.slice('doc_'.length) || Infinity) <= this.#after) return;
    switch (event.type) {
      case 'response_start':
        this.hasBegun = true;
        return;
      case 'document_start':
        this.#enterStep(event);
        break;
      case 'document_end':
        if (event.metadata?.['interrupted'] === true) return this.#takeBack(event.documentId);
        break;
      case 'plan_update':
        return this.#show(event.documentId);
      case 'done':
        return this.#finish(this.#fold.response);
      case 'message':
      case 'message_update':
      case 'steered':
      case 'attached':
      case 'response_model':
      case 'model_wait':
      case 'mode_update':
      case 'context_summary':
      case 'budget_near':
      case 'conversation_update':
      case 'snapshot':
      case 'heartbeat':
        return; // No chunk is about these.
    }
    this.#sayAgain();
    this.#step?.push(event);
    this.#map(event);
  }

  #enterStep({ document }: TapeEventOf<'document_start'>): void {
    const calls = [...this.#calls.values()];
    const isOver = calls.length > 0 && calls.every(({ isOpen }) => !isOpen);
    // An error is of the call before it.
    if (isOver && document.type !== 'error') this.#endStep();
    if (this.#step) return;
    this.#step = [];
    this.#isShown = true;
    this.#calls.clear();
    this.#out.push({ type: 'start-step' });
  }

  #endStep(): void {
    this.#endSpeech();
    for (const speech of new Set(this.#speeches.values())) this.#send(speech.end());
    this.#speeches.clear();
    this.#step = null;
    this.#out.push({ type: 'finish-step' });
  }

  /** A crash has taken the document back. What stays of its step is sent again before anything else follows. */
  #takeBack(documentId: string): void {
    this.#step = this.#step?.filter((event) => documentIdOf(event) !== documentId) ?? null;
    if (!this.#step || !this.#isShown) return;
    this.#isShown = false;
    this.#calls.clear();
    this.#speeches.clear();
    this.#speech = null;
    this.#out.push({ type: 'reset-step' });
  }

  #sayAgain(): void {
    if (this.#isShown || !this.#step) return;
    this.#isShown = true;
    for (const event of this.#step) this.#map(event);
  }

  #map(event: StepEvent): void {
    switch (event.type) {
      case 'document_start':
        return this.#startDocument(event);
      case 'content_delta':
        return this.#say(event.documentId, event.delta);
      case 'tool_call_start':
      case 'tool_call_arguments':
      case 'tool_result':
        return this.#mapCall(event);
      case 'document_end':
        this.#end(event.documentId);
        return this.#show(event.documentId);
      case 'tool_output':
      case 'attention':
        return; // The document's end brings what they add.
      case 'approval_request':
      case 'approval_resolved':
      case 'clarification_request':
      case 'client_call':
      case 'subagent_update':
      case 'subagent_ask':
      case 'subagent_answered':
        return this.#show(event.documentId);
      default:
        event satisfies never;
    }
  }

  #startDocument({ document }: TapeEventOf<'document_start'>): void {
    const { id, type } = document;
    const { voice, finishedBy } = factsOf(type);
    const kind = voice === 'reasoning' ? 'reasoning' : 'text';
    const isOfCall = finishedBy !== null;
    if (voice === null || isOfCall || this.#speech?.kind !== kind) this.#endSpeech();
    if (voice !== null) {
      const speech = this.#speech ?? new Speech(id, kind, isOfCall);
      if (!isOfCall) this.#speech = speech;
      this.#speeches.set(id, speech);
      speech.start(document);
    }
    this.#show(id);
  }

  #say(documentId: string, delta: string): void {
    const speech = this.#speeches.get(documentId);
    if (speech) this.#send(speech.add(documentId, delta));
  }

  /** More of the same kind may follow in the same part. */
  #end(documentId: string): void {
    const call = this.#calls.get(documentId);
    if (call) call.isOpen = false;
    const speech = this.#speeches.get(documentId);
    if (!speech) return;
    this.#speeches.delete(documentId);
    this.#send(speech.pause(documentId));
    if (speech !== this.#speech && speech.isIdle) this.#send(speech.end());
  }

  /** What comes next has a part of its own. */
  #endSpeech(): void {
    if (this.#speech?.isIdle) this.#send(this.#speech.end());
    this.#speech = null;
  }

  /** A spread would put the pieces of a long text on the stack. */
  #send(chunks: readonly UiChunk[]): void {
    for (const chunk of chunks) this.#out.push(chunk);
  }

  #mapCall(
    event:
      | TapeEventOf<'tool_call_start'>
      | TapeEventOf<'tool_call_arguments'>
      | TapeEventOf<'tool_result'>,
  ): void {
    if (event.type === 'tool_call_start') {
      const { toolName } = event;
      this.#calls.set(event.documentId, { toolName, its: this.#namesOf(event), isOpen: true });
    }
    const call = this.#calls.get(event.documentId);
    if (!call) return; // Its start is damaged.
    const { toolName, its } = call;
    switch (event.type) {
      case 'tool_call_start':
        return void this.#out.push({ type: 'tool-input-start', toolName, ...its });
      case 'tool_call_arguments': {
        const input = event.arguments;
        return void this.#out.push({ type: 'tool-input-available', toolName, input, ...its });
      }
      default: {
        const { status, data } = event.result;
        const errorText = typeof data === 'string' ? data : JSON.stringify(data);
        if (status === 'error') this.#out.push({ type: 'tool-output-error', errorText, ...its });
        else this.#out.push({ type: 'tool-output-available', output: data, ...its });
      }
    }
  }

  /** A call of the app's own tool gets an id that names its document, for the result. */
  #namesOf({ documentId, toolCallId }: TapeEventOf<'tool_call_start'>): StreamedCall['its'] {
    const { response } = this.#fold;
    const document = response && findDocument(response, documentId);
    if (!document?.metadata['isOfApp']) return { toolCallId, ...OF_CALLS };
    return { toolCallId: toClientCalls(response?.id ?? '', [document])[0]?.id ?? toolCallId };
  }

  /** Sends the document as it is now, unless its text is all there is to it. */
  #show(documentId: string): void {
    const { response } = this.#fold;
    const document = response && findDocument(response, documentId);
    if (!document) return;
    const { voice, finishedBy } = factsOf(document.type);
    if (voice !== null && finishedBy === null) return;
    this.#out.push({ type: 'data-document', id: documentId, data: withoutCall(document) });
  }

  /** `response` is null if it was cancelled before it started. */
  #finish(response: ChatResponse | null): void {
    this.#sayAgain();
    if (this.#step) this.#endStep();
    const answered = response && { model: response.model, usage: shownUsage(response) };
    const messageMetadata = { conversationId: this.#conversationId, ...answered };
    const finish = (finishReason: UiFinishReason) =>
      this.#out.push({ type: 'finish', finishReason, messageMetadata });
    const ending = endingOf(response);
    if (ending.type === 'finished') {
      finish(FINISH[ending.reason]);
    } else if (response?.status !== 'error') {
      finish('interrupted');
      this.#out.push({ type: 'abort', reason: ending.failure.message });
    } else {
      finish('error');
      const { code, message } = ending.failure;
      this.#out.push({ type: 'error', errorText: `${code.toUpperCase()}: ${message}` });
    }
  }
}

const FINISH = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
} as const;

type UiFinishReason = NonNullable<Extract<UiChunk, { type: 'finish' }>['finishReason']>;

interface StreamedCall {
  readonly toolName: string;
  readonly its: { readonly toolCallId: string } & Partial<typeof OF_CALLS>;
  isOpen: boolean;
}

/** The agent's own tools are not known to the app, and do not run there. */
const OF_CALLS = { dynamic: true, providerExecuted: true } as const;

/** A part of text or reasoning: of documents in a row, or of one that belongs to a call. */
class Speech {
  readonly kind: 'text' | 'reasoning';
  readonly #id: string;
  readonly #isOfCall: boolean;
  readonly #open = new Set<string>();
  readonly #rendering = new Rendering();
  readonly #pieces = new Pieces();
  #isBegun = false;

  constructor(id: string, kind: Speech['kind'], isOfCall: boolean) {
    this.#id = id;
    this.kind = kind;
    this.#isOfCall = isOfCall;
  }

  /** Whether all of its documents have ended. */
  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  start(document: RenderedDocument): void {
    this.#open.add(document.id);
    this.#rendering.start(document);
  }

  add(documentId: string, delta: string): UiChunk[] {
    this.#rendering.add(documentId, delta);
    return this.#send(this.#pieces.push(this.#words()));
  }

  /** Ends a document, and sends what is there to the last character. */
  pause(documentId: string): UiChunk[] {
    this.#open.delete(documentId);
    this.#rendering.end(documentId);
    return this.#send([...this.#pieces.push(this.#words()), ...this.#pieces.end()]);
  }

  /** To be called once. Nothing may follow. */
  end(): UiChunk[] {
    const last = [...this.#open].flatMap((documentId) => this.pause(documentId));
    return this.#isBegun ? [...last, { type: `${this.kind}-end`, id: this.#id }] : last;
  }

  #words(): string {
    const { content, reasoning } = this.#rendering.take();
    return content + reasoning;
  }

  #send(pieces: readonly string[]): UiChunk[] {
    const id = this.#id;
    const deltas = pieces.map((delta): UiChunk => ({ type: `${this.kind}-delta`, id, delta }));
    if (this.#isBegun || deltas.length === 0) return deltas;
    this.#isBegun = true;
    // Names the document, so that an app which shows a plan by its document can leave this text out.
    const of = this.#isOfCall && { providerMetadata: { drawbridge: { documentId: id } } };
    return [{ type: `${this.kind}-start`, id, ...of }, ...deltas];
  }
}

function documentIdOf(event: StreamEvent): string | undefined {
  if (event.type === 'document_start') return event.document.id;
  return 'documentId' in event ? event.documentId : undefined;
}

/** A copy that later events do not change. The arguments and the result of a `tool_call` stand in the part of its tool. */
function withoutCall(document: Document): Document {
  const { arguments: _, result: __, ...rest } = document.metadata;
  const metadata = document.type === 'tool_call' ? rest : { ...document.metadata };
  return { ...document, metadata };
}

function shownUsage(response: ChatResponse): UiUsage | null {
  const usage = usageOfAnswer(response, 0);
  if (!usage) return null;
  const { promptTokens, completionTokens, cachedPromptTokens, reasoningTokens, run } = usage;
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedPromptTokens !== undefined && { cachedPromptTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(run.cost && { cost: run.cost }),
  };
}
