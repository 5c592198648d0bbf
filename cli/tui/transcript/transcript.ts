/** What was said: each message with its answer, the oldest first. Only what an event has changed is drawn anew. */
import { Container } from '@earendil-works/pi-tui';
import type { ChatResponse, ConversationView, Document, ReadEvent } from '../../../client/index.ts';
import { documentPart } from './document-part.ts';
import type { Look } from './look.ts';
import { messagePart, noticePart, responseEnd } from './message-part.ts';
import type { Part } from './part.ts';

type Message = ConversationView['messages'][number];

export class Transcript extends Container {
  readonly #look: Look;
  /** By what they show: a message, a document, the end of a response. */
  #parts = new Map<string, Part>();
  #notices: Part[] = [];

  constructor(look: Look) {
    super();
    this.#look = look;
  }

  /** Shows the conversation after an event. A delta costs no more than its document. */
  show(view: ConversationView | undefined, event: ReadEvent | null): void {
    if (event?.type === 'content_delta' || event?.type === 'tool_output') {
      const response = view?.responses.at(-1);
      const part = response && this.#parts.get(keyOf(response, event.documentId));
      if (part) return part.invalidate();
    }
    this.#arrange(view);
  }

  /** Words of the terminal itself, below everything that was said so far. */
  say(words: string): void {
    this.#notices.push(noticePart(words, this.#look));
    this.#arrange(this.#view);
  }

  /** Draws everything again, for example unfolded. */
  redraw(): void {
    for (const part of this.#parts.values()) part.invalidate();
    this.invalidate();
  }

  #view: ConversationView | undefined;

  #arrange(view: ConversationView | undefined): void {
    if (view?.id !== this.#view?.id) this.#parts.clear();
    this.#view = view;
    const old = this.#parts;
    this.#parts = new Map();
    const keep = (key: string, make: () => Part) => {
      const part = old.get(key) ?? make();
      this.#parts.set(key, part);
      return part;
    };
    for (const { message, response } of exchangesOf(view)) {
      if (message) keep(`message ${message.responseId}`, () => messagePart(message, this.#look));
      if (response) this.#arrangeResponse(view, response, keep);
    }
    this.children = [...this.#parts.values(), ...this.#notices];
  }

  #arrangeResponse(
    view: ConversationView | undefined,
    response: ChatResponse,
    keep: (key: string, make: () => Part) => Part,
  ): void {
    const isLast = view?.responses.at(-1) === response;
    const steers = view?.messages.filter(
      (each) => each.responseId === response.id && each.steers && !each.cancelled,
    );
    const steersAfter = (from: number, to: number) =>
      (steers ?? []).filter(({ afterSequence = Number.MAX_SAFE_INTEGER }) => {
        return afterSequence >= from && afterSequence < to;
      });
    const showSteers = (messages: readonly Message[]) => {
      for (const message of messages) {
        const key = `steer ${response.id} ${message.created} ${message.content}`;
        keep(key, () => messagePart(message, this.#look));
      }
    };
    let seen = 0;
    for (const document of response.documents) {
      showSteers(steersAfter(seen, document.sequence));
      seen = document.sequence;
      const part = keep(keyOf(response, document.id), () =>
        documentPart(document, response, this.#look),
      );
      if (isLast) part.invalidate();
    }
    showSteers(steersAfter(seen, Number.POSITIVE_INFINITY));
    const end = keep(`end ${response.id}`, () => responseEnd(response, this.#look));
    if (isLast) end.invalidate();
  }
}

function keyOf({ id }: ChatResponse, documentId: Document['id']): string {
  return `document ${id} ${documentId}`;
}

interface Exchange {
  readonly message: Message | undefined;
  readonly response: ChatResponse | undefined;
}

/** Messages that wait are not here: the composer shows them. */
function exchangesOf(view: ConversationView | undefined): Exchange[] {
  const { messages = [], responses = [] } = view ?? {};
  const asked = new Map(
    messages.filter(({ steers }) => !steers).map((message) => [message.responseId, message]),
  );
  return responses.map((response) => ({ message: asked.get(response.id), response }));
}
