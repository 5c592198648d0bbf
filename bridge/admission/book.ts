/** What admission stores on disk, and the error for a disk that takes nothing. */
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import type { Scope } from '../../shared/wire/approvals.ts';
import type { ApprovalAnswer, ToolResult } from '../../shared/wire/tunnel.ts';
import type { FileChange } from '../tools/executor.ts';

/** The outcome of a question. `expired` also stands for a question that was withdrawn with its call. */
export interface Resolution {
  /** `superseded`: the call would now do something else, so the answer is void. */
  readonly decision: 'once' | 'reject' | 'expired' | 'superseded';
  /** `device`, `terminal`, `editor` or `drawbridge`. */
  readonly by: string;
  readonly message?: string;
  /** With `once`: how far it reaches, if farther than the call, and for which patterns. */
  readonly scope?: Scope | undefined;
  readonly pattern?: string | undefined;
  /** With `once`, for an edit: the whole file as the person wants it, without a byte order mark. */
  readonly content?: string;
}

/** A person's answer. */
export interface AnswerEntry extends Resolution {
  readonly decision: 'once' | 'reject';
  /** Of a device. It is not kept with the answer, which counts once it was checked. */
  readonly signature?: ApprovalAnswer['signature'];
}

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
