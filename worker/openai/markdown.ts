/** Documents as one Markdown text, the form in which OpenAI's clients take an answer. */
import type { Document, Metadata } from '../../shared/documents.ts';
import { Fence } from './fence.ts';

/** Two texts of one answer. */
export interface Words {
  /** Text, code in fences and plans. What tools did is no part of it. */
  readonly content: string;
  /** What the model thought. */
  readonly reasoning: string;
}

/** The whole text of an answer that has ended. */
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

/** A document as far as it matters here. */
export interface Tellable extends Pick<Document, 'id' | 'type'> {
  readonly metadata?: Metadata | undefined;
}

/** A document on its way: what of it was not rendered yet. */
interface Part {
  readonly kind: keyof Words;
  readonly fence: Fence | null;
  waiting: string;
  isBegun: boolean;
  isOpen: boolean;
}

/** Renders documents while they grow, one behind the other, with a blank line between. */
export class Rendering {
  /** By id, in order, those that were not rendered to their end: one at work, and what came while it was. */
  readonly #parts = new Map<string, Part>();
  readonly #hasWords = { content: false, reasoning: false };

  /** `known` is the content where it is known beforehand: its fence is then chosen to fit. */
  start(document: Tellable, known = ''): void {
    const kind = kindOf(document);
    if (!kind) return;
    const info = infoOf(document);
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

  /** What came since the last time. */
  take(): Words {
    const words = { content: '', reasoning: '' };
    for (const [id, part] of this.#parts) {
      words[part.kind] += this.#render(part);
      if (part.isOpen) break;
      this.#parts.delete(id);
    }
    return words;
  }

  #render(part: Part): string {
    const opening = part.isBegun ? '' : this.#begin(part);
    const { fence, waiting } = part;
    part.waiting = '';
    if (!fence) return opening + waiting;
    return `${opening}${fence.push(waiting)}${part.isOpen ? '' : fence.close()}`;
  }

  /** A text without words leaves no trace. */
  #begin(part: Part): string {
    const { kind, fence, waiting } = part;
    if (!fence && waiting === '') return '';
    part.isBegun = true;
    const gap = this.#hasWords[kind] ? '\n\n' : '';
    this.#hasWords[kind] = true;
    return gap + (fence?.open() ?? '');
  }
}

/** Null for what is not told in words. */
function kindOf({ type }: Tellable): keyof Words | null {
  switch (type) {
    case 'text':
    case 'code_block':
    case 'code_reference':
    case 'plan':
      return 'content';
    case 'reasoning':
      return 'reasoning';
    case 'file_edit':
    case 'tool_call':
    case 'terminal_command':
    case 'todo_update':
    case 'clarification':
    case 'error':
      return null;
    default:
      return type satisfies never;
  }
}

/** The words behind the fence as the model wrote them; null for what stands in none. */
function infoOf({ type, metadata = {} }: Tellable): string | null {
  const { startLine, endLine, filePath, language } = metadata;
  if (type === 'code_reference') return `${startLine}:${endLine}:${filePath}`;
  if (type !== 'code_block') return null;
  return language === UNNAMED ? '' : String(language);
}

/** Undefined for the usual length, and for a document that an older version wrote. */
function lengthOf({ metadata = {} }: Tellable): number | undefined {
  const { fenceLength } = metadata;
  return typeof fenceLength === 'number' ? fenceLength : undefined;
}

/** What a fence without a word behind it became. */
const UNNAMED = 'plaintext';
