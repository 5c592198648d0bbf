/** Moments of a schedule, for whatever happens beside the model's answers. */
import type { Random } from '../../../../bench/fuzz/random.ts';

/** When followers have seen so many events in all, or together with the crash of that number. */
export interface Moment {
  readonly on: 'event' | 'crash';
  readonly count: number;
}

export function planMoment(random: Random): Moment {
  return random.chance(0.3)
    ? { on: 'crash', count: 1 + random.below(2) }
    : { on: 'event', count: random.below(40) };
}

/** Lets those who wait for a moment go on when it comes. */
export class Moments {
  readonly #passed = { event: 0, crash: 0 };
  #waiting: { readonly moment: Moment; readonly come: () => void }[] = [];
  #isOver = false;

  pass(on: Moment['on']): void {
    this.#passed[on]++;
    this.#wake();
  }

  /** Nothing more is to be expected: the moments that did not come are now. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  until(moment: Moment): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ moment, come: resolve });
      this.#wake();
    });
  }

  #wake(): void {
    const isHere = ({ moment: { on, count } }: { readonly moment: Moment }) =>
      this.#isOver || this.#passed[on] >= count;
    const here = this.#waiting.filter(isHere);
    this.#waiting = this.#waiting.filter((waiting) => !isHere(waiting));
    for (const { come } of here) come();
  }
}
