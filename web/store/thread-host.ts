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
  /** The images of a person's message. Absent where they are only counted. */
  readonly Images?: FunctionComponent<{ readonly message: UserMessage }>;
  /** Starts what a person asked for, and shows why it was refused. */
  run(work: () => Promise<unknown>): void;
  /** The URL of another conversation. Absent where none can be shown: then nothing here leads to one. */
  linkTo?(conversationId: string): string;
}

/** The newest parts of conversations, kept for the next start. None of its promises rejects. */
export interface SeenViews {
  read(conversationId: string): Promise<ConversationView | undefined>;
  keep(view: ConversationView): Promise<void>;
  forget(conversationId: string): Promise<void>;
}
