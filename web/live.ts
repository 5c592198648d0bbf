/** Renders the parts of the page again that show changed data. The data itself is changed in place. */
import type { ComponentChild, FunctionComponent } from 'preact';
import { Component, h } from 'preact';
import { useLayoutEffect, useReducer } from 'preact/hooks';

type LiveListener = () => void;

/**
 * Between two renderings of a text that streams. Each costs a browser some 3 ms, nearly all of it after our code: with
 * every frame of an answer that is a fifth of the main thread, and text that grows ten times a second reads as well.
 * Chromium looks every 100 ms for what came into sight: after less it makes another frame for that alone. A socket
 * brings text more slowly, so that it is shown as it comes.
 */
const GROWTH_MS = 100;

/** Listeners by key. They are called once a frame at most where it is touched, and once in {@link GROWTH_MS} where it grows. */
export class Live {
  readonly #listeners = new Map<string, Set<LiveListener>>();
  /** The keys that wait to be shown. */
  readonly #touched = new Set<string>();
  readonly #grown = new Set<string>();
  /** When what streams may be shown again. */
  #nextMs = 0;

  /** What this key stands for has changed. */
  touch(key: string): void {
    const isFirst = this.#touched.size === 0;
    this.#touched.add(key);
    if (!isFirst) return;
    const show = () => this.#show(this.#touched);
    // A hidden page gets no frames, and its title must change all the same.
    if (document.hidden) setTimeout(show);
    else requestAnimationFrame(show);
  }

  /**
   * As {@link touch}, for what streams: at once after a pause, and else once in {@link GROWTH_MS}. It waits for no frame:
   * a browser that scrolls within one needs another one to report it.
   */
  grow(key: string): void {
    const isFirst = this.#grown.size === 0;
    this.#grown.add(key);
    const waitMs = this.#nextMs - performance.now();
    if (waitMs <= 0) this.#showGrown();
    else if (isFirst) setTimeout(() => this.#showGrown(), waitMs);
  }

  /** Returns what ends it. */
  listen(key: string, listener: LiveListener): () => void {
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(key);
    };
  }

  #showGrown(): void {
    this.#nextMs = performance.now() + GROWTH_MS;
    this.#show(this.#grown);
  }

  #show(keys: Set<string>): void {
    const shown = [...keys];
    keys.clear();
    for (const key of shown) for (const listener of this.#listeners.get(key) ?? []) listener();
  }
}

/** Renders the component again after each change of the key. */
export function useLive(live: Live, key: string): void {
  const [, render] = useReducer((count: number) => count + 1, 0);
  // Before anything else can happen: a change between the first render and a later effect would be lost.
  useLayoutEffect(() => live.listen(key, () => render(undefined)), [live, key]);
}

/** A component that renders again only for another item, or when it listens itself ({@link useLive}). */
export function once<Props extends { readonly item: unknown }>(
  Inner: FunctionComponent<Props>,
): FunctionComponent<Props> {
  class Once extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      return next.item !== this.props.item;
    }
    override render(): ComponentChild {
      return h(Inner, this.props as Props);
    }
  }
  return (props: Props) => h(Once, props);
}
