/** Renders the parts of the page again that show changed data. The data itself is changed in place. */
import type { ComponentChild, FunctionComponent } from 'preact';
import { Component, h } from 'preact';
import { useLayoutEffect, useReducer } from 'preact/hooks';

type LiveListener = () => void;

/**
 * Between two renderings of a text that streams. Each costs a browser some 3 ms, nearly all of it after our code: with
 * every frame of an answer that is a fifth of the main thread, and text that grows ten times a second reads as well.
 */
const GROWTH_MS = 100;

/** Listeners by key. They are called at most once a frame, however often a key is touched. */
export class Live {
  readonly #listeners = new Map<string, Set<LiveListener>>();
  readonly #touched = new Set<string>();
  readonly #grown = new Set<string>();
  #isPlanned = false;
  #isGrowing = false;
  /** When a text may be shown again that grows. */
  #nextMs = 0;

  /** What this key stands for has changed. */
  touch(key: string): void {
    this.#touched.add(key);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    // A hidden page gets no frames, and its title must change all the same.
    if (document.hidden) setTimeout(() => this.#flush());
    else requestAnimationFrame(() => this.#flush());
  }

  /** As {@link touch}, for a text that streams: at once after a pause, and else once in {@link GROWTH_MS}. */
  grow(key: string): void {
    this.#grown.add(key);
    if (this.#isGrowing) return;
    this.#isGrowing = true;
    setTimeout(() => {
      this.#isGrowing = false;
      this.#nextMs = performance.now() + GROWTH_MS;
      for (const grown of this.#grown) this.touch(grown);
      this.#grown.clear();
    }, this.#nextMs - performance.now());
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

  #flush(): void {
    this.#isPlanned = false;
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const key of touched) for (const listener of this.#listeners.get(key) ?? []) listener();
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
