/** What the agent says. */
import type { Component } from '@earendil-works/pi-tui';
import type { ScreenDocumentProps } from './document-props.ts';
import { GrowingMarkdown } from './growing-markdown.ts';

export function textPart({ document, look }: ScreenDocumentProps): Component {
  return new GrowingMarkdown(() => document.content ?? '', look);
}
