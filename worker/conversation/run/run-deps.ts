/** What the parts of a run stand on. */
import type { ModelEnv } from '../../upstream/models.ts';
import type { CallDeps } from '../calls/call-desk.ts';

export interface RunDeps extends CallDeps {
  readonly conversationId: string;
  /** Sees to it that the alarm comes for the run's next deadline. */
  readonly arm: () => Promise<void>;
  /** Which models there are: read for each turn, for a deployment can change it. */
  readonly settings: ModelEnv;
  /** The tape's head. */
  readonly head: () => number;
  readonly newUuid: () => string;
  /** Called in the step that ends a run, when its end is stored. Must not throw. */
  readonly onEnd: (ordinal: number) => void;
}
