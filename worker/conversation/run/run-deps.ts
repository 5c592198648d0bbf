/** The dependencies of the parts of a run. */
import type { ModelEnv } from '../../../packages/model/index.ts';
import type { CallDeps } from '../calls/call-desk.ts';
import type { Call, RunWorktree } from '../store/rows.ts';

/** A worktree's settings, and the title of its conversation as the message of its commits. */
export interface WorktreePlan extends RunWorktree {
  readonly message: string;
}

/** The setting of the limit of turns (worker/env.ts). */
export interface TurnEnv {
  readonly MAX_TURNS?: string;
}

export interface RunDeps extends CallDeps {
  readonly conversationId: string;
  /** Sets the alarm for the run's next deadline. */
  readonly arm: () => Promise<void>;
  /** The configured models, and the limit of turns. They are read for each turn, because a deployment can change them. */
  readonly settings: ModelEnv & TurnEnv;
  /** The position after the tape's last event. */
  readonly head: () => number;
  readonly newUuid: () => string;
  /** Whether a turn was begun before this data was last restored from a backup. */
  readonly wasTakenBack: (atMs: number) => boolean;
  /** How the conversation's worktree begins and ends. Asked only in a run that works in one. */
  readonly worktree: () => WorktreePlan;
  /** Called in the step that ends a run, when its end is stored. Must not throw. */
  readonly onEnd: (ordinal: number) => void;
  /** Called after each step of the run, when its outcome is stored. Must not throw. */
  readonly onStep: () => void;
  readonly subagents: {
    /** Starts and ends subagents, as far as it is time for that. Returns at once. */
    advance(): void;
    /** Ends the subagents among these calls, for whose results the run waits no more. */
    recall(calls: readonly Call[]): void;
  };
}
