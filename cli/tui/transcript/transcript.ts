/** What was said: each message with its answer, the oldest first. Only what an event has changed is drawn anew. */
import { type Component, Container } from '@earendil-works/pi-tui';
import type { ChatResponse, ConversationView, Document, ReadEvent } from '../../../client/index.ts';
import { isDelta } from '../../../shared/wire/events.ts';
import { newsOf } from '../../render/run.ts';
import { documentPart } from './document-part.ts';
import type { Look } from './look.ts';
import { messagePart, missingPart, noticePart, responseEnd } from './message-part.ts';

type TranscriptMessage = ConversationView['messages'][number];

/** A part with what it shows. A snapshot replaces messages, responses and documents by others of the same names. */
interface KeptPart {
  readonly subject: object;
  readonly part: Component;
}

/** Words that belong below a part. */
interface Notice {
  /** The key of that part; undefined for words before anything was said. */
  readonly below: string | undefined;
  readonly part: Component;
}

type Keep = (key: string, subject: object, make: () => Component) => void;

export class Transcript extends Container {
  readonly #look: Look;
  #view: ConversationView | undefined;
  /** By what they show: a message, a document, the end of a response. */
  #parts = new Map<string, KeptPart>();
  #notices: Notice[] = [];
  #hasSaidWithdrawn = false;

  constructor(look: Look) {
    super();
    this.#look = look;
  }

  /** Of the conversation that is shown. */
  get conversationId(): string | undefined {
    return this.#view?.id;
  }

  /** Shows the conversation after an event. A delta costs no more than its document. */
  show(view: ConversationView | undefined, event: ReadEvent | null): void {
    if (event && 'documentId' in event) {
      // A changed plan may belong to an older response.
      const id = 'responseId' in event ? event.responseId : view?.responses.at(-1)?.id;
      const part = this.#parts.get(keyOf(id ?? '', event.documentId))?.part;
      part?.invalidate();
      if (part && isDelta(event)) return;
    }
    this.#arrange(view, event);
    this.#sayNews(event);
  }

  /** Words of the terminal itself, below everything that was said so far. */
  say(words: string): void {
    this.#noteBelow([...this.#parts.keys()].at(-1), noticePart(words, this.#look));
  }

  /** A document, once more or of an older answer, below everything that was said so far. */
  showBelow(document: Document, response: ChatResponse): void {
    this.#noteBelow([...this.#parts.keys()].at(-1), documentPart(document, response, this.#look));
  }

  /** Says between its documents what the newest response says of itself. */
  #sayNews(event: ReadEvent | null): void {
    switch (event?.type) {
      case 'response_model':
      case 'context_summary':
      case 'budget_near':
      case 'mode_update':
      case 'plan_update': {
        const words = newsOf(event);
        if (words !== null) this.#noteAbove(words);
        return;
      }
      // The server was interrupted, and took back what it had not stored.
      case 'document_end':
        if (event.metadata?.['interrupted'] === true) this.#sayWithdrawn();
        return;
      case 'document_start':
        this.#hasSaidWithdrawn = false;
        return;
      // The view shows them.
      case 'message':
      case 'message_update':
      case 'steered':
      case 'attached':
      case 'response_start':
      case 'model_wait':
      case 'conversation_update':
      case 'done':
      case 'snapshot':
      case 'heartbeat':
      case 'unknown':
      case undefined:
        return;
      default:
        event satisfies { readonly documentId: string } | null;
    }
  }

  /** Once for all documents of a turn. */
  #sayWithdrawn(): void {
    if (this.#hasSaidWithdrawn) return;
    this.#hasSaidWithdrawn = true;
    this.#noteAbove(WITHDRAWN);
  }

  /** Above the last part, which is the end of the response. */
  #noteAbove(words: string): void {
    this.#noteBelow([...this.#parts.keys()].at(-2), noticePart(words, this.#look));
  }

  #noteBelow(below: string | undefined, part: Component): void {
    this.#notices.push({ below, part });
    this.#arrange(this.#view, null);
  }

  #arrange(view: ConversationView | undefined, event: ReadEvent | null): void {
    if (view?.id !== this.#view?.id) {
      this.#parts.clear();
      if (this.#view) this.#notices = [];
    }
    this.#view = view;
    const old = this.#parts;
    this.#parts = new Map();
    const keep: Keep = (key, subject, make) => {
      const known = old.get(key);
      const kept = known?.subject === subject ? known : { subject, part: make() };
      this.#parts.set(key, kept);
    };
    for (const { message, response } of exchangesOf(view)) {
      if (message) this.#arrangeMessage(`message ${message.responseId}`, message, keep);
      if (response) this.#arrangeResponse(view, response, keep);
    }
    this.#invalidateChanged(view?.responses.at(-1), event);
    this.children = [
      ...this.#noticesBelow(undefined),
      ...[...this.#parts].flatMap(([key, { part }]) => [part, ...this.#noticesBelow(key)]),
    ];
  }

  #noticesBelow(key: string | undefined): Component[] {
    return this.#notices.filter(({ below }) => below === key).map(({ part }) => part);
  }

  /** The documents that an event can change without naming them: the newest ones stop to grow. */
  #invalidateChanged(response: ChatResponse | undefined, event: ReadEvent | null): void {
    if (!response || !event) return;
    const { id, documents } = response;
    const newest = documents.slice(-2).map((document) => keyOf(response.id, document.id));
    for (const key of [...newest, `missing ${id}`, `end ${id}`]) {
      this.#parts.get(key)?.part.invalidate();
    }
  }

  #arrangeMessage(key: string, message: TranscriptMessage, keep: Keep): void {
    keep(key, message, () => messagePart(message, this.#look));
  }

  #arrangeResponse(view: ConversationView | undefined, response: ChatResponse, keep: Keep): void {
    const { id, documents } = response;
    keep(`missing ${id}`, response, () => missingPart(response, this.#look));
    const steers = (view?.messages ?? []).filter(
      ({ responseId, steers, cancelled }) => responseId === id && steers && !cancelled,
    );
    const arrangeSteers = (from: number, to: number) => {
      for (const message of steers) {
        const { afterSequence = Number.MAX_SAFE_INTEGER, created, content } = message;
        if (afterSequence < from || afterSequence >= to) continue;
        this.#arrangeMessage(`steer ${id} ${created} ${content}`, message, keep);
      }
    };
    let seen = 0;
    for (const document of documents) {
      arrangeSteers(seen, document.sequence);
      seen = document.sequence;
      keep(keyOf(response.id, document.id), document, () =>
        documentPart(document, response, this.#look),
      );
    }
    arrangeSteers(seen, Number.POSITIVE_INFINITY);
    keep(`end ${id}`, response, () => responseEnd(response, this.#look));
  }
}

const WITHDRAWN =
  'The server was interrupted: the end of the answer was withdrawn, and the model answers again from here.';

function keyOf(responseId: string, documentId: string): string {
  return `document ${responseId} ${documentId}`;
}

interface TranscriptExchange {
  readonly message: TranscriptMessage | undefined;
  readonly response: ChatResponse | undefined;
}

/** Messages that wait are not here: the composer shows them. The preview of an undo shows only what it asks. */
function exchangesOf(view: ConversationView | undefined): TranscriptExchange[] {
  const { messages = [], responses = [] } = view ?? {};
  const asked = new Map(
    messages.filter(({ steers }) => !steers).map((message) => [message.responseId, message]),
  );
  return responses
    .map((response) => ({ message: asked.get(response.id), response }))
    .filter(({ message, response }) => !message?.preview || response.status === 'waiting');
}
