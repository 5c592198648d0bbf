/** Renders documents as one Markdown text, the form of an answer for OpenAI's clients. */
import { factsOf, fenceInfoOf } from '../wire/document-types.ts';
import type { Document, Metadata } from '../wire/documents.ts';
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
    const content = document.content ?? '';
    rendering.start(document, content);
    rendering.add(document.id, content);
    rendering.end(document.id);
  }
  return rendering.take();
}

/** The fields of a document that rendering needs. */
export interface RenderedDocument extends Pick<Document, 'id' | 'type'> {
  readonly metadata?: Metadata | undefined;
}

/** A document that is not completely rendered. `waiting` is its content that was not rendered yet. */
interface MarkdownPart {
  readonly kind: keyof Words;
  readonly fence: Fence | null;
  waiting: string;
  isBegun: boolean;
  isOpen: boolean;
}

/** Renders documents while they grow, one after another, with a blank line between them. */
export class Rendering {
  /** Documents that are not completely rendered, by id, in order. Later ones wait for the end of the first one. */
  readonly #parts = new Map<string, MarkdownPart>();
  readonly #hasWords = { content: false, reasoning: false };

  /** `known` is the content known beforehand. The fence is chosen to fit it. */
  start(document: RenderedDocument, known = ''): void {
    const { voice } = factsOf(document.type);
    if (voice === null) return;
    const kind = voice === 'answer' ? 'content' : 'reasoning';
    const info = fenceInfoOf(document);
    const fence = info === null ? null : new Fence(info, known, lengthOf(document));
    this.#parts.set(document.id, { kind, fence, waiting: '', isBegun: false, isOpen: true });
  }

  add(id: string, text: string): void {
    const part = this.#parts.get(id);
    if (part) part.waiting += text;
  }

  end(id: string): void {
    const part = this.#parts.get(id);
    if (part) part.isOpen = false;
  }

  /** The text that is new since the last call. */
  take(): Words {
    const words = { content: '', reasoning: '' };
    for (const [id, part] of this.#parts) {
      words[part.kind] += this.#render(part);
      if (part.isOpen) break;
      this.#parts.delete(id);
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
