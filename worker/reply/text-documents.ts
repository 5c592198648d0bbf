/** Writes the text of a reply as `text`, `code_block` and `code_reference` documents, one open at a time. */
import type { Metadata } from '../../shared/wire/documents.ts';
import type { DocumentWriter } from './document-writer.ts';
import { FenceSegmenter, type SegmentEvent } from './fences.ts';
import type { Segment } from './info-string.ts';

/** Writes the certain part of the text with each push. */
export class TextDocuments {
  readonly #writer: DocumentWriter;
  readonly #segmenter = new FenceSegmenter();
  #documentId = '';

  constructor(writer: DocumentWriter) {
    this.#writer = writer;
  }

  push(text: string): void {
    this.#write(this.#segmenter.push(text));
  }

  /** Ends the open document. Later text begins a new line and a new document; an open fence stays open. */
  end(): void {
    this.#write(this.#segmenter.break());
  }

  #write(events: readonly SegmentEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'start':
          this.#documentId = this.#writer.start(event.segment.type, metadataOf(event.segment));
          break;
        case 'delta':
          this.#writer.addContent(this.#documentId, event.text);
          break;
        case 'end':
          this.#writer.end(this.#documentId);
          break;
        default:
          event satisfies never;
      }
    }
  }
}

function metadataOf(segment: Segment): Metadata {
  const { type, ...metadata } = segment;
  switch (type) {
    case 'text':
      return { format: 'markdown' };
    case 'code_block':
    case 'code_reference':
      return metadata;
    default:
      return type satisfies never;
  }
}
