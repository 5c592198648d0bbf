/** What differs between the calls of the bridge, the edge, subagents and the app: a row for each executor. */
import type { Executor } from '../../../shared/tools/definition.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import { modeOf, nameOfMode, namesOfModes } from '../log/modes.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Memory } from '../memory/prepare-turn.ts';
import type { Call, Run } from '../store/rows.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import { spentSoFar } from '../tape/spending.ts';
import { runEdgeTool } from './edge-tools/edge-tools.ts';

/** How the calls of one executor begin, and how those end that get no result in time. */
interface CallExecutor {
  /** Begins a call that may run. Stores nothing. */
  readonly begin: (call: Call, place: BeginPlace) => BeginOutcome;
  /** Null: such calls have no time limit of the run's. */
  readonly late: LateCall | null;
}

/** `asks` shows an event, and a person has RUN_LIMITS.approvalMs to answer. `handed_over`: the run passes the call on. */
export type BeginOutcome =
  | { readonly type: 'result'; readonly result: ToolResult }
  | { readonly type: 'asks'; readonly event: TapeEvent }
  | { readonly type: 'handed_over' };

/** What becomes of a call whose time is over: it gets a result, or the run fails. */
export type LateCall =
  | { readonly type: 'settle'; readonly result: ToolResult }
  | { readonly type: 'fail'; readonly error: ErrorReport };

interface BeginPlace {
  readonly run: Run;
  readonly log: RunLog;
  readonly memory: Memory;
  /** The result that equal calls before this one have got; null where it repeats none. */
  readonly repeated: () => ToolResult | null;
}

/** The result of questions that no one has answered. */
export const NOT_ANSWERED = failure(
  'NOT_ANSWERED',
  'No one answered in time. Decide yourself, or end and say what is open.',
);

/** The rows, by the executor of a call's tool. */
export const EXECUTORS: { readonly [Name in Executor]: CallExecutor } = {
  bridge: {
    begin: () => HANDED_OVER,
    late: {
      type: 'settle',
      result: failure(
        'DEADLINE_PASSED',
        'The bridge gave no result in time. Whether the call had any effect is unknown: check before you repeat it.',
      ),
    },
  },
  edge: { begin: beginHere, late: { type: 'settle', result: NOT_ANSWERED } },
  // Subagents have limits of their own, and are asked for their state.
  agent: { begin: () => HANDED_OVER, late: null },
  client: {
    begin: ({ documentId }, { run, log }) => {
      const turns = log.turns.filter(({ own }) => !own);
      const spent = spentSoFar({ turns, windows: log.windowsOf(run), tasks: log.tasks });
      return { type: 'asks', event: { type: 'client_call', documentId, ...(spent && { spent }) } };
    },
    late: {
      type: 'fail',
      // Going on would cost money for no reader.
      error: {
        code: 'RESULTS_MISSING',
        source: 'drawbridge',
        message: 'Stopped: the app did not send the results of its own tools in time.',
      },
    },
  },
};

const HANDED_OVER = { type: 'handed_over' } as const;

function beginHere(call: Call, { run, log, memory, repeated }: BeginPlace): BeginOutcome {
  const modes = { present: nameOfMode(modeOf(run)), all: namesOfModes(run.machine) };
  const name = log.toolbox.nameOf(call.name);
  const outcome = runEdgeTool(name, call.arguments, { todos: memory.todos, modes });
  if (!outcome) throw new Error(`no tool of the edge: ${name}`);
  if (outcome.type === 'result') return outcome;
  const answered = repeated();
  if (answered) return { type: 'result', result: answered }; // A person is not asked a third time.
  const { questions } = outcome;
  const { documentId } = call;
  return { type: 'asks', event: { type: 'clarification_request', documentId, questions } };
}
