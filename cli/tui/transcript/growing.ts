/** A part of the screen that grows at its end. What is finished is wrapped once for each width, and only the end anew. */
import type { Component } from '@earendil-works/pi-tui';
import { fitted } from './cached.ts';
import type { CodeColours } from './code-colours.ts';

type LinesAt = (width: number) => readonly string[];

export abstract class Growing implements Component {
  readonly #textOf: () => string;
  readonly #colours: CodeColours;
  #hadColours: boolean;
  #text = '';
  #isStale = true;
  #finished: LinesAt[] = [];
  /** Of the first `#wrapped` finished pieces. */
  #lines: string[] = [];
  #wrapped = 0;
  #width = 0;
  #shown: readonly string[] | undefined;

  /** `textOf` is called after each `invalidate`. */
  constructor(textOf: () => string, colours: CodeColours) {
    this.#textOf = textOf;
    this.#colours = colours;
    this.#hadColours = colours.isLoaded;
  }

  /** Takes what has come: it may {@link finish} pieces. */
  protected abstract grow(news: string): void;

  /** Forgets everything that has come. */
  protected abstract reset(): void;

  /** What is not finished. */
  protected abstract tailAt(width: number): readonly string[];

  protected finish(linesAt: LinesAt): void {
    this.#finished.push(linesAt);
  }

  invalidate(): void {
    this.#isStale = true;
  }

  #startOver(): void {
    this.#text = '';
    this.#finished = [];
    this.#lines = [];
    this.#wrapped = 0;
    this.reset();
  }

  render(width: number): readonly string[] {
    if (this.#isStale) this.#read();
    if (this.#width !== width) {
      this.#width = width;
      this.#lines = [];
      this.#wrapped = 0;
      this.#shown = undefined;
    }
    this.#shown ??= [...this.#linesOfFinished(), ...fittedAll(this.tailAt(width), width)];
    return this.#shown;
  }

  #read(): void {
    this.#isStale = false;
    this.#shown = undefined;
    const text = this.#textOf();
    const hasColours = this.#colours.isLoaded;
    if (hasColours !== this.#hadColours || !text.startsWith(this.#text)) this.#startOver();
    this.#hadColours = hasColours;
    const news = text.slice(this.#text.length);
    this.#text = text;
    this.grow(news);
  }

  #linesOfFinished(): readonly string[] {
    for (const linesAt of this.#finished.slice(this.#wrapped)) {
      for (const line of fittedAll(linesAt(this.#width), this.#width)) this.#lines.push(line);
    }
    this.#wrapped = this.#finished.length;
    return this.#lines;
  }
}

function fittedAll(lines: readonly string[], width: number): string[] {
  return lines.map((line) => fitted(line, width));
}
