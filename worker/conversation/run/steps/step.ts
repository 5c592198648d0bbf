/** What a run does by itself once all its calls have results. */
import type { TapeEvent } from '../../../../shared/wire/events.ts';
import type { ToolResult } from '../../../../shared/wire/tunnel.ts';
import type { NewTurn, RunRequest } from '../../store/rows.ts';
import type { ErrorReport } from '../../tape/error-document.ts';
import type { EndStatus } from '../../tape/run-events.ts';
import type { OwnCall } from './own-turn.ts';

/** A step is taken in the synchronous step in which it was made; afterwards the run looks for the next one. */
export type Step =
  | OwnTurn
  | { readonly type: 'show'; readonly events: readonly TapeEvent[] }
  /** Adds a note for the model. */
  | { readonly type: 'note'; readonly note: string }
  /** Looks at the machine, and stores what it finds if the run is still current then. */
  | { readonly type: 'look'; readonly look: () => Promise<void> }
  | {
      readonly type: 'end';
      readonly status: EndStatus;
      readonly events?: readonly TapeEvent[];
      readonly turn?: NewTurn;
    }
  | { readonly type: 'fail'; readonly error: ErrorReport };

/** A turn that asks no model: Drawbridge itself, or a guest at the bridge, begins its calls. */
export interface OwnTurn {
  readonly type: 'turn';
  readonly calls: readonly OwnCall[];
  /** Absent for the call of a guest. */
  readonly own?: NewTurn['own'];
  /** Whether its calls are checked like those of a model. */
  readonly isChecked?: boolean;
  /** The result of its calls, where no tool must run. */
  readonly result?: ToolResult;
  /** Shown before it. */
  readonly events?: readonly TapeEvent[];
  /** The request of the run from this turn on, where the turn changes it. */
  readonly request?: RunRequest;
}
