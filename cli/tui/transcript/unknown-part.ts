/** A document of a type that this version does not know. */
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import type { DocumentProps } from './document-props.ts';
import { wrapped } from './lines.ts';
import type { Part } from './part.ts';

export function unknownPart({ document, look: { paint } }: DocumentProps): Part {
  return new Cached((width) => {
    const { type, content } = document;
    const words = `This version does not know “${shortLine(type)}”.`;
    return [paint('dim', words), ...(content ? wrapped(content, width) : [])];
  });
}
