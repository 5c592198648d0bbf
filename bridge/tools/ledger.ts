/** Remembers what each conversation last saw of each file, so that no edit is made from what is no longer there. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { diffTexts } from '../edits/diff.ts';

/** A file as it was seen: the hash decides, the text only serves to say what changed. */
export interface SeenFile {
  readonly hash: string;
  readonly text: string;
}

/** What a conversation knows of a file; `ranges` are lines of the file as it is now, null when they cannot be told. */
export type Standing =
  | { readonly state: 'unread' }
  | { readonly state: 'current' }
  | { readonly state: 'changed'; readonly ranges: readonly LineRange[] | null };

export interface LineRange {
  readonly startLine: number;
  readonly endLine: number;
}

/** Lives as long as the bridge process. What it forgets, by age or by a restart, counts as unread. */
export class ReadLedger {
  /** By conversation and resolved path; the longest unused first. */
  readonly #seen = new Map<string, SeenFile>();
  #chars = 0;

  /** A conversation has seen this content, by reading or by writing it. `path` is the resolved one. */
  remember(conversationId: string, path: string, { hash, text }: SeenFile): void {
    this.forget(conversationId, path);
    this.#seen.set(keyOf(conversationId, path), { hash, text });
    this.#chars += text.length;
    this.#shrink();
  }

  /** The hash of the content the conversation saw last, null for a file it never saw. */
  hashOf(conversationId: string, path: string): string | null {
    return this.#seen.get(keyOf(conversationId, path))?.hash ?? null;
  }

  forget(conversationId: string, path: string): void {
    const key = keyOf(conversationId, path);
    this.#chars -= this.#seen.get(key)?.text.length ?? 0;
    this.#seen.delete(key);
  }

  /** How the file as it is now stands to what the conversation saw of it. */
  standingOf(conversationId: string, path: string, now: SeenFile): Standing {
    const seen = this.#seen.get(keyOf(conversationId, path));
    if (seen === undefined) return { state: 'unread' };
    if (seen.hash === now.hash) return { state: 'current' };
    return { state: 'changed', ranges: changedRanges(seen.text, now.text) };
  }

  #shrink(): void {
    for (const [key, { text }] of this.#seen) {
      const fits =
        this.#seen.size <= TOOL_LIMITS.maxLedgerFiles && this.#chars <= TOOL_LIMITS.maxLedgerChars;
      if (fits) return;
      this.#seen.delete(key);
      this.#chars -= text.length;
    }
  }
}

function keyOf(conversationId: string, path: string): string {
  return `${conversationId}\0${path}`;
}

/** Compared backwards, so that the ranges are lines of the file as it is now. */
function changedRanges(seen: string, now: string): LineRange[] | null {
  const changes = diffTexts(now, seen);
  if (changes === null) return null;
  return (changes.hunks ?? [changes.diff]).map(({ startLine, endLine }) => ({
    startLine,
    endLine,
  }));
}
