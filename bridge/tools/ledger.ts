/** Remembers what each conversation last saw of each file, so that no edit is made from what is no longer there. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import type { Standing } from '../edits/source.ts';

/** A file as it was seen: the hash decides, the bytes only serve to say what changed. */
export interface SeenFile {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Lives as long as the bridge process. What it forgets, by age or by a restart, counts as unread. */
export class ReadLedger {
  /** By conversation and resolved path; the longest unused first. */
  readonly #seen = new Map<string, SeenFile>();
  #bytes = 0;

  /** A conversation has seen this content, by reading or by writing it. `path` is the resolved one. */
  remember(conversationId: string, path: string, { hash, bytes }: SeenFile): void {
    this.forget(conversationId, path);
    this.#seen.set(keyOf(conversationId, path), { hash, bytes });
    this.#bytes += bytes.length;
    this.#shrink();
  }

  /** The hash of the content the conversation saw last, null for a file it never saw. */
  hashOf(conversationId: string, path: string): string | null {
    return this.#seen.get(keyOf(conversationId, path))?.hash ?? null;
  }

  /** A file was renamed: what the conversation saw of it is at the other path now. */
  move(conversationId: string, from: string, to: string): void {
    const seen = this.#seen.get(keyOf(conversationId, from));
    this.forget(conversationId, from);
    this.forget(conversationId, to);
    if (seen) this.remember(conversationId, to, seen);
  }

  forget(conversationId: string, path: string): void {
    const key = keyOf(conversationId, path);
    this.#bytes -= this.#seen.get(key)?.bytes.length ?? 0;
    this.#seen.delete(key);
  }

  /** How the file with this hash stands to what the conversation saw of it. */
  standingOf(conversationId: string, path: string, hash: string | null): Standing {
    const seen = this.#seen.get(keyOf(conversationId, path));
    if (seen === undefined) return { state: 'unread' };
    return seen.hash === hash ? { state: 'current' } : { state: 'changed', bytes: seen.bytes };
  }

  #shrink(): void {
    for (const [key, { bytes }] of this.#seen) {
      const fits =
        this.#seen.size <= TOOL_LIMITS.maxLedgerFiles && this.#bytes <= TOOL_LIMITS.maxLedgerBytes;
      if (fits) return;
      this.#seen.delete(key);
      this.#bytes -= bytes.length;
    }
  }
}

function keyOf(conversationId: string, path: string): string {
  return `${conversationId}\0${path}`;
}
