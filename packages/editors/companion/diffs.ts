/** The diffs that one guest has open. Each is answered by a person, or closed by the guest. */
import { setTimeout as sleep } from 'node:timers/promises';
import { COMPANION_LIMITS } from './limits.ts';
import type { DiffTools } from './mcp-server.ts';

/** What a person decides. `content` is the whole file as the person accepts it, with their own changes. */
export type DiffOutcome =
  | { readonly decision: 'accepted'; readonly content: string }
  | { readonly decision: 'rejected' };

/** Shows a proposed file to a person. Never rejects. */
export type ShowDiff = (
  diff: { readonly filePath: string; readonly newContent: string },
  signal: AbortSignal,
) => Promise<DiffOutcome>;

interface OpenDiff {
  readonly newContent: string;
  readonly closing: AbortController;
  readonly outcome: Promise<DiffOutcome>;
}

export class OpenDiffs implements DiffTools {
  readonly #show: ShowDiff;
  readonly #onOutcome: (filePath: string, outcome: DiffOutcome) => void;
  /** By the path as the guest has written it: a guest knows its diff by that very text. */
  readonly #open = new Map<string, OpenDiff>();

  /** `onOutcome` is called for each diff that a person has answered. */
  constructor(show: ShowDiff, onOutcome: (filePath: string, outcome: DiffOutcome) => void) {
    this.#show = show;
    this.#onOutcome = onOutcome;
  }

  /** A second diff of a path replaces the first: the guest waits for one answer of that path. */
  open(filePath: string, newContent: string): void {
    this.#take(filePath)?.closing.abort();
    const { maxDiffs, maxDiffChars } = COMPANION_LIMITS;
    if (this.#open.size >= maxDiffs)
      throw new Error(`${maxDiffs} diffs are open already: close one first.`);
    if (this.#chars + newContent.length > maxDiffChars)
      throw new Error(`Open diffs may have ${maxDiffChars} characters together: close one first.`);
    const closing = new AbortController();
    const outcome = this.#ask({ filePath, newContent }, closing.signal);
    const diff = { newContent, closing, outcome };
    this.#open.set(filePath, diff);
    void outcome.then((answer) => {
      if (this.#open.get(filePath) !== diff) return;
      this.#open.delete(filePath);
      this.#onOutcome(filePath, answer);
    });
  }

  /** A view that does not say in time what was changed in it has the proposed content. */
  async close(filePath: string): Promise<string | undefined> {
    const diff = this.#take(filePath);
    if (diff === undefined) return undefined;
    diff.closing.abort();
    const waiting = new AbortController();
    const { closeDiffMs } = COMPANION_LIMITS;
    const late = sleep(closeDiffMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    const left = await Promise.race([diff.outcome, late]);
    waiting.abort();
    return left?.decision === 'accepted' ? left.content : diff.newContent;
  }

  /** Closes all. The guest gets no notification. */
  end(): void {
    for (const filePath of [...this.#open.keys()]) this.#take(filePath)?.closing.abort();
  }

  get #chars(): number {
    return [...this.#open.values()].reduce((sum, { newContent }) => sum + newContent.length, 0);
  }

  #take(filePath: string): OpenDiff | undefined {
    const diff = this.#open.get(filePath);
    this.#open.delete(filePath);
    return diff;
  }

  /** A view that fails has shown nothing that could be accepted. */
  async #ask(...shown: Parameters<ShowDiff>): Promise<DiffOutcome> {
    try {
      return await this.#show(...shown);
    } catch {
      return { decision: 'rejected' };
    }
  }
}
