/** What the parts of a run stand on. */
import type { ModelEnv } from '../../upstream/models.ts';
import type { LoggedCall } from '../calls/calls.ts';
import type { Schedule } from '../deadlines.ts';
import type { Machine } from '../store/rows.ts';
import type { Recorder } from '../tape/recorder.ts';
import type { RunLog } from './run-log.ts';

/** The conversation's bridge, as the run needs it. Every call is idempotent and may throw when the object resets. */
export interface Hands {
  /** The bridge's tools and context; null when there is none or it never connected. */
  describe(): Promise<Machine | null>;
  dispatch(calls: readonly LoggedCall[]): Promise<void>;
  cancel(callIds: readonly string[]): Promise<void>;
}

export interface RunDeps {
  readonly conversationId: string;
  /** Nobody can be asked anything: the conversation is made for one answer, to a client that knows no questions. */
  readonly isHeadless: boolean;
  readonly log: RunLog;
  readonly recorder: Recorder;
  readonly schedule: Schedule;
  readonly hands: Hands;
  /** Which models there are: read for each turn, for a deployment can change it. */
  readonly settings: ModelEnv;
  /** The tape's head. */
  readonly head: () => number;
  readonly now: () => number;
  readonly newUuid: () => string;
  /** Called in the step that ends a run, when its end is stored. Must not throw. */
  readonly onEnd: (ordinal: number) => void;
  /** Has the run go on with whatever is to be done; returns at once, and may be called at any time. */
  readonly advance: () => void;
}
