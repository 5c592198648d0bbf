/** A document of a type that this version does not know. */
import type { Component } from '@earendil-works/pi-tui';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import type { ScreenDocumentProps } from './document-props.ts';
import { wrapped } from './lines.ts';

export function unknownPart({ document, look: { paint } }: ScreenDocumentProps): Component {
  return new Cached((width) => {
    const { type, content } = document;
    const words = `This version does not know “${shortLine(type)}”.`;
    return [paint('dim', words), ...(content ? wrapped(content, width) : [])];
  });
}
