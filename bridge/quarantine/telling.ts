/** Tells what was found: at the machine at once, and with the result of a command. */
import { type AttentionItem, attentionSentence } from '../../shared/wire/attention.ts';
import { boundedWhat } from './git-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

/** The findings in one workspace until a result has told them. */
export class QuarantineTelling {
  readonly #tell: (line: string) => void;
  /** Findings that no result has told yet. */
  #untold: AttentionItem[] = [];

  /** `tell` takes one line for the person at the machine. */
  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /**
   * Keeps findings for the next result. The person at the machine already knows them, or learns of them with that
   * result.
   */
  keep(found: readonly AttentionItem[]): void {
    this.#untold.push(...found);
  }

  /** Tells findings to the person at the machine. */
  say(found: readonly AttentionItem[]): void {
    for (const item of bounded(found)) this.#tell(attentionSentence(item));
  }

  /** Tells the findings at the machine, and returns them for a result, together with everything that was kept. */
  told(found: readonly AttentionItem[]): readonly AttentionItem[] {
    this.say(found);
    const all = [...this.#untold, ...found];
    this.#untold = [];
    return bounded(all);
  }
}

/** A command can make any number of things. All are handled; only the first `maxTold` are named. */
function bounded(items: readonly AttentionItem[]): readonly AttentionItem[] {
  const { maxTold } = QUARANTINE_LIMITS;
  const shown = items.slice(0, maxTold).map((item) => ({ ...item, what: boundedWhat(item.what) }));
  const others = items.slice(maxTold);
  if (others.length === 0) return shown;
  const quarantined = others.every((item) => item.quarantined);
  return [...shown, { name: `${others.length} more`, quarantined, what: ['of the same kind'] }];
}
