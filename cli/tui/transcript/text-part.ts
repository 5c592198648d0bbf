/** What the agent says. */
import type { DocumentProps } from './document-props.ts';
import { GrowingMarkdown } from './growing-markdown.ts';
import type { Part } from './part.ts';

export function textPart({ document, look }: DocumentProps): Part {
  return new GrowingMarkdown(() => document.content ?? '', look);
}
