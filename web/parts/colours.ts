/** Where the colours of code come from: a file of its own, which is loaded when code is first shown. */
import type { highlight } from '../../shared/shown/highlight.ts';

type LoadHighlighter = () => Promise<{ readonly highlight: typeof highlight }>;

/** Undefined where code has no colours: an element of an app is one small file. */
export let loadHighlighter: LoadHighlighter | undefined;

/** To be called before anything is shown. */
export function colourWith(load: LoadHighlighter): void {
  loadHighlighter = load;
}
