/** What admission has kept on disk, and how it says that it cannot be. */
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import type { FileChange } from '../tools/executor.ts';

/** How a question ended. `expired` also stands for one that was withdrawn with its call. */
export interface Resolution {
  /** `superseded`: it no longer said what would happen, so its answer is void. */
  readonly decision: 'once' | 'reject' | 'expired' | 'superseded';
  /** `device`, `terminal` or `drawbridge`. */
  readonly by: string;
  readonly message?: string;
}

/** How a person has answered. */
export interface Answered extends Resolution {
  readonly decision: 'once' | 'reject';
}

/** Where questions and answers are kept: what either method says is on disk when it returns. Both throw when it cannot be. */
export interface QuestionBook {
  /**
   * The nonce of the question about a call. Only where the same digest was asked about before, and the call has not been
   * started since, it is the nonce of that time, with the answer that was given. `beforeHash` is there for a change to a
   * file: what the question was made from.
   */
  ask(
    callId: string,
    digest: string,
    beforeHash?: string | null,
  ): { readonly nonce: string; readonly answer?: Answered };
  answer(callId: string, nonce: string, answer: Answered): void;
}

/** What is known of a call. */
export type CallState =
  | { readonly state: 'unknown' }
  /** Started by this process, and not finished. */
  | { readonly state: 'running'; readonly change?: FileChange | undefined }
  | { readonly state: 'finished'; readonly result: ToolResult }
  /**
   * Started by an earlier process, which ended in the middle. Only what is `repeatable` may be started again, and a
   * change to a file that still is what it was before.
   */
  | {
      readonly state: 'interrupted';
      readonly repeatable: boolean;
      readonly change?: FileChange | undefined;
    };

/** A call that starts. */
export interface Start extends Pick<ToolDefinition, 'effect' | 'idempotent'> {
  readonly callId: string;
  readonly tool: string;
  readonly change?: FileChange | undefined;
}

/** Keeps which calls were asked about and started. */
export interface CallBook extends QuestionBook {
  lookup(callId: string): CallState;
  /** To be called before a tool does anything; when it throws, the tool must not. */
  start(call: Start): void;
  /** The nonce of the question about a call that was not started since. */
  askedNonce(callId: string): string | undefined;
  /** The hash of the file that a call was asked about or started with: its conversation has seen that content. */
  seenHash(callId: string): string | undefined;
}

/** The disk does not take an entry that something depends on. The message says why, without the file's path. */
export class JournalUnwritable extends Error {
  override readonly name = 'JournalUnwritable';
}
