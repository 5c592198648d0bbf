/** What admission stores on disk, and the error for a disk that takes nothing. */
import type { AnswerEntry, FileChange } from '../../packages/host/index.ts';
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';

/**
 * Stores questions and answers. When a method returns, its entry is on disk; it throws when the disk does not take it.
 */
export interface QuestionBook {
  /**
   * The nonce of the question about a call. It is the earlier nonce, with its answer, only where the same digest was
   * asked about and the call has not been started since. `beforeHash` is set for a change to a file: the hash of the
   * content that the question was made from.
   */
  ask(
    callId: string,
    digest: string,
    beforeHash?: string | null,
  ): { readonly nonce: string; readonly answer?: AnswerEntry };
  answer(callId: string, nonce: string, answer: AnswerEntry): void;
}

/** The state of a call. */
export type CallState =
  | { readonly state: 'unknown' }
  /** Started by this process, and not finished. */
  | { readonly state: 'running'; readonly change?: FileChange | undefined }
  | { readonly state: 'finished'; readonly result: ToolResult }
  /**
   * Started by an earlier process, which ended before the call did. It may be started again only when `repeatable` is
   * true, or when it changes a file that still has its old content.
   */
  | {
      readonly state: 'interrupted';
      readonly repeatable: boolean;
      readonly change?: FileChange | undefined;
    };

/** The entry for a call that starts. */
export interface StartEntry extends Pick<ToolDefinition, 'effect' | 'idempotent'> {
  readonly callId: string;
  readonly tool: string;
  readonly change?: FileChange | undefined;
}

/** Stores which calls were asked about and started. */
export interface CallBook extends QuestionBook {
  lookup(callId: string): CallState;
  /** The caller calls this before a tool does anything. When it throws, the tool must not run. */
  start(call: StartEntry): void;
  /** The nonce of the question about a call that was not started since. */
  askedNonce(callId: string): string | undefined;
  /** The hash of the file that the call was asked about or started with. Its conversation has seen that content. */
  seenHash(callId: string): string | undefined;
}

/** The disk does not take an entry that the call depends on. The message says why, without the file's path. */
export class JournalUnwritable extends Error {
  override readonly name = 'JournalUnwritable';
}
