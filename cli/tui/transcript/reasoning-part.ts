/** What the model thinks: folded to a line. */
import type { Component } from '@earendil-works/pi-tui';
import { SECOND } from '../../../shared/units.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import { isGrowing, type ScreenDocumentProps } from './document-props.ts';
import { indented, wrapped } from './lines.ts';

export function reasoningPart(props: ScreenDocumentProps): Component {
  const { document, look } = props;
  const clock = new ReasoningClock();
  return new Cached((width) => {
    const text = (document.content ?? '').trim();
    const title = clock.titleOf(isGrowing(props));
    const last = text.slice(text.lastIndexOf('\n') + 1);
    if (!look.isExpanded) {
      const news = title === 'Thinking' && last !== '' ? `: ${shortLine(last)}` : '';
      return [look.paint('dim', `${title}${news}`)];
    }
    const lines = indented(wrapped(text, width - 2));
    return [title, ...lines].map((line) => look.paint('dim', line));
  });
}

/** No document says how long the model thought: a screen that has seen it knows. */
class ReasoningClock {
  #startMs: number | undefined;
  #seconds: number | undefined;

  titleOf(isThinking: boolean): string {
    if (isThinking) {
      this.#startMs ??= Date.now();
      return 'Thinking';
    }
    if (this.#startMs === undefined) return 'Thought';
    this.#seconds ??= Math.max(1, Math.round((Date.now() - this.#startMs) / SECOND));
    return `Thought for ${this.#seconds} s`;
  }
}
