/** The contract of a way to reach people about a call. Admission asks everywhere at once; the first valid answer decides. */
import type { ApprovalQuestion, Lasting, Scope } from '../../shared/wire/approvals.ts';
import type { ApprovalAnswer } from '../../shared/wire/tunnel.ts';
import type { EditedFile } from './tool.ts';

/** A question that waits for its answer. */
export interface OpenQuestion {
  readonly question: ApprovalQuestion;
  /** Why the question is asked, in one sentence. */
  readonly reason: string;
  /** For a change to a file that a person may change further. */
  readonly edited?: Pick<EditedFile, 'path' | 'newText'> | undefined;
  /** What a yes can cover beyond the call. */
  readonly lasting?: Lasting | undefined;
}

/** A way to reach people. No method rejects. The signal withdraws the question and ends each method. */
export interface Asker {
  /**
   * The answer that came before its question. Undefined at once where none came; a promise of undefined where the
   * answer is not valid. While it is checked, no other way is used.
   */
  readonly early?: (
    open: OpenQuestion,
    signal: AbortSignal,
  ) => Promise<AnswerEntry | undefined> | undefined;
  /** Undefined when this way gives no answer; another way may. */
  readonly ask: (open: OpenQuestion, signal: AbortSignal) => Promise<AnswerEntry | undefined>;
}

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
