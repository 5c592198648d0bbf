/** Remembers what each conversation last saw of each file, so that no edit is based on old content. */

import { TOOL_LIMITS } from '../../shared/limits.ts';
import type { KnownSource } from '../edits/index.ts';

/** A file as a conversation saw it. The hash decides; the bytes only serve to describe a change. */
export interface LedgerFile {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Lives as long as the bridge process. A file that it has dropped, by age or by a restart, counts as unread. */
export class ReadLedger {
  /** By conversation and resolved path. The entry unused for longest comes first. */
  readonly #seen = new Map<string, LedgerFile>();
  /** When each conversation last worked here, in epoch milliseconds. */
  readonly #workedMs = new Map<string, number>();
  #bytes = 0;

  /** Notes that a conversation has read or written this content. `path` is the resolved path. */
  remember(conversationId: string, path: string, { hash, bytes }: LedgerFile): void {
    this.forget(conversationId, path);
    this.#seen.set(keyOf(conversationId, path), { hash, bytes });
    this.#bytes += bytes.length;
    this.#shrink();
  }

  /** The hash of the content that the conversation saw last; null for a file it never saw. */
  hashOf(conversationId: string, path: string): string | null {
    return this.#seen.get(keyOf(conversationId, path))?.hash ?? null;
  }

  /** The files that a conversation has seen, by their resolved paths, the latest first. */
  filesOf(conversationId: string): [path: string, LedgerFile][] {
    const start = keyOf(conversationId, '');
    const own = [...this.#seen].filter(([key]) => key.startsWith(start));
    return own
      .map(([key, seen]): [string, LedgerFile] => [key.slice(start.length), seen])
      .reverse();
  }

  /** Notes that a conversation has worked here, and returns when it did so before; undefined for the first time. */
  worked(conversationId: string, nowMs: number): number | undefined {
    const before = this.#workedMs.get(conversationId);
    this.#workedMs.delete(conversationId);
    this.#workedMs.set(conversationId, nowMs);
    const [oldest] = this.#workedMs.keys();
    if (oldest && this.#workedMs.size > TOOL_LIMITS.maxLedgerFiles) this.#workedMs.delete(oldest);
    return before;
  }

  /** Moves an entry to the new path of a renamed file. */
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

  /** Compares the file's present hash with the content that the conversation saw. */
  standingOf(conversationId: string, path: string, hash: string | null): KnownSource {
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
