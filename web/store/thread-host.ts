/** What a thread needs of the page, or of the element in an app's page, that shows it. */
import type { FunctionComponent } from 'preact';
import type {
  AppClient,
  ConversationView,
  SubagentState,
  UserMessage,
} from '../../client/index.ts';
import type { OpenApproval } from '../../shared/wire/approvals.ts';
import type { Live } from '../live.ts';
import type { Outbox } from './outbox.ts';

export interface ThreadHost {
  readonly client: AppClient;
  readonly live: Live;
  readonly outbox: Outbox;
  /** Absent where nothing that was read may be kept. */
  readonly seen?: SeenViews;
  /** Shows a call that waits for a person, who can answer it here or only elsewhere. */
  readonly Approval: FunctionComponent<{ readonly item: OpenApproval }>;
  /** A subagent beside the call that started it. */
  readonly Subagent: FunctionComponent<{ readonly subagent: SubagentState }>;
  /** What became of a command that runs on in the background. Absent where machines are not asked. */
  readonly Background?: FunctionComponent<{
    readonly thread: ShownThread;
    readonly processId: string;
  }>;
  /** The images of a person's message. Absent where they are only counted. */
  readonly Images?: FunctionComponent<{ readonly message: UserMessage }>;
  /** A plan is being carried out, by a yes of the person here. Absent where a person chooses no mode. */
  onPlanBegun?(): void;
  /** Starts what a person asked for, and shows why it was refused. */
  run(work: () => Promise<unknown>): void;
  /** Sends a message again whose answer has failed. */
  again(thread: ShownThread, message: UserMessage): Promise<unknown>;
  /**
   * Changes a message that waits. One that was answered is sent again, in a conversation that begins before it; only
   * where there is {@link fork}.
   */
  change(thread: ShownThread, message: UserMessage, isWaiting: boolean): Promise<unknown>;
  /** Goes on from the end of an answer in a new conversation. Absent where no other one can be shown. */
  fork?(thread: ShownThread, responseId: string): Promise<unknown>;
}

/** A conversation as far as it was read. */
export interface ShownThread {
  readonly id: string;
  readonly view: ConversationView | undefined;
}

/** The newest parts of conversations, kept for the next start. None of its promises rejects. */
export interface SeenViews {
  read(conversationId: string): Promise<ConversationView | undefined>;
  keep(view: ConversationView): Promise<void>;
  forget(conversationId: string): Promise<void>;
}
