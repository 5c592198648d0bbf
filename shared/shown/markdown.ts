/** Renders documents as one Markdown text, the form of an answer for OpenAI's clients. */
import { factsOf, fenceInfoOf } from '../wire/document-types.ts';
import type { Document, Metadata } from '../wire/documents.ts';
import type { StreamEvent } from '../wire/events.ts';
import { Fence } from './fence.ts';

/** The two texts of an answer. */
export interface Words {
  /** Text, fenced code and plans, without the work of tools. */
  readonly content: string;
  /** The model's reasoning. */
  readonly reasoning: string;
}

/** The whole text of a finished answer. */
export function renderWords(documents: readonly Document[]): Words {
  const rendering = new Rendering();
  for (const document of documents) {
    rendering.start(document, document.content ?? '');
    rendering.grow(document, true);
  }
  return rendering.take();
}

/** The fields of a document that rendering needs. */
export interface RenderedDocument extends Pick<Document, 'id' | 'type'> {
  readonly metadata?: Metadata | undefined;
}

/** A document, and its content that was added and not taken yet. */
interface MarkdownPart {
  readonly kind: keyof Words;
  readonly fence: Fence | null;
  waiting: string;
  /** UTF-16 units of its content that were added so far. */
  added: number;
  isBegun: boolean;
  isOpen: boolean;
}

/**
 * What a reader was sent of the words of some documents, and what comes next. It grows by the events of a tape, or by a
 * whole document where events may be missing: then it adds what the document has more. Documents follow one another, with
 * a blank line between them.
 */
export class Rendering {
  /** By id. Those that were taken to their end stay known. */
  readonly #parts = new Map<string, MarkdownPart>();
  /** Those that were not, in order. Later ones wait for the end of the first one. */
  readonly #waiting: MarkdownPart[] = [];
  readonly #hasWords = { content: false, reasoning: false };

  /** Events without words change nothing. Words that are new to an answer stand in a document. */
  see(event: StreamEvent): void {
    switch (event.type) {
      case 'document_start':
        return this.start(event.document);
      case 'content_delta':
        return this.add(event.documentId, event.delta);
      case 'document_end':
        return this.end(event.documentId);
      case 'tool_call_start':
      case 'tool_call_arguments':
      case 'tool_output':
      case 'tool_result':
      case 'attention':
      case 'approval_request':
      case 'approval_resolved':
      case 'clarification_request':
      case 'client_call':
      case 'subagent_update':
      case 'subagent_ask':
      case 'subagent_answered':
      case 'plan_update': // A person's words, and not the answer's.
        return;
      default:
        event satisfies { readonly type: string; readonly documentId?: never };
    }
  }

  /** `isOver`: the document gets no more content. */
  grow(document: Document, isOver: boolean): void {
    const { id } = document;
    const content = document.content ?? '';
    if (!this.#parts.has(id)) this.start(document);
    const part = this.#parts.get(id);
    if (!part) return;
    part.waiting += content.slice(part.added);
    part.added = content.length;
    part.isOpen &&= !isOver;
  }

  /** `known` is the content known beforehand. The fence is chosen to fit it. */
  start(document: RenderedDocument, known = ''): void {
    const { voice } = factsOf(document.type);
    if (voice === null) return;
    const kind = voice === 'answer' ? 'content' : 'reasoning';
    const info = fenceInfoOf(document);
    const fence = info === null ? null : new Fence(info, known, lengthOf(document));
    const part: MarkdownPart = { kind, fence, waiting: '', added: 0, isBegun: false, isOpen: true };
    this.#parts.set(document.id, part);
    this.#waiting.push(part);
  }

  add(id: string, text: string): void {
    const part = this.#parts.get(id);
    if (!part) return;
    part.waiting += text;
    part.added += text.length;
  }

  end(id: string): void {
    const part = this.#parts.get(id);
    if (part) part.isOpen = false;
  }

  /** The text that is new since the last call. */
  take(): Words {
    const words = { content: '', reasoning: '' };
    for (let part = this.#waiting[0]; part; part = this.#waiting[0]) {
      words[part.kind] += this.#render(part);
      if (part.isOpen) break;
      this.#waiting.shift();
    }
    return words;
  }

  #render(part: MarkdownPart): string {
    const opening = part.isBegun ? '' : this.#begin(part);
    const { fence, waiting } = part;
    part.waiting = '';
    if (!fence) return opening + waiting;
    return `${opening}${fence.push(waiting)}${part.isOpen ? '' : fence.close()}`;
  }

  /** The opening of a part. A text document without content gets none. */
  #begin(part: MarkdownPart): string {
    const { kind, fence, waiting } = part;
    if (!fence && waiting === '') return '';
    part.isBegun = true;
    const gap = this.#hasWords[kind] ? '\n\n' : '';
    this.#hasWords[kind] = true;
    return gap + (fence?.open() ?? '');
  }
}

/** Undefined for the usual length, and for a document of an older version. */
function lengthOf({ metadata = {} }: RenderedDocument): number | undefined {
  const { fenceLength } = metadata;
  return typeof fenceLength === 'number' ? fenceLength : undefined;
}
