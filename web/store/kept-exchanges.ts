/** How much of a conversation the page keeps. */
import type { ChatResponse } from '../../client/index.ts';
import { KIB } from '../../shared/units.ts';

/** Of exchanges together, in UTF-16 units: an agent that works for hours would fill the page's memory. */
const KEPT_CHARS = 384 * KIB;
const LEAST = 5;

/** How many of the newest exchanges stay while the reader is at the end: what fits, and at least five. */
export function keptOf(responses: readonly Pick<ChatResponse, 'documents'>[]): number {
  let chars = 0;
  const firstLeft = responses.findLastIndex(({ documents }, at) => {
    for (const { content, metadata } of documents)
      chars += `${content}${metadata['output']}`.length;
    return chars > KEPT_CHARS && at < responses.length - LEAST;
  });
  return responses.length - 1 - firstLeft;
}
