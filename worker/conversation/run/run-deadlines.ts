/** What the current run waits for, derived from its phase. */
import { UPSTREAM_LIMITS } from '../../../packages/model/index.ts';
import type { CallDesk } from '../calls/call-desk.ts';
import type { Deadline } from '../deadlines.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Run } from '../store/rows.ts';
import type { HandOver } from './hand-over.ts';

/**
 * `watchdog`: any progress. `attempt`: its next attempt with the model. `bridge`: a bridge that could not be reached.
 * `calls`: the end of the time for its calls. `questions`: the end of the time for answers. `budget`: the end of the
 * time of its budget (run/budget.ts).
 */
export type RunDeadline = 'watchdog' | 'attempt' | 'bridge' | 'calls' | 'questions' | 'budget';

/** The times at which the alarm must advance the run. */
export function stepDeadlines(
  log: RunLog,
  calls: CallDesk,
  handOver: HandOver,
  nowMs: number,
): Deadline<RunDeadline>[] {
  const { phase } = log;
  const bridge = { name: 'bridge' as const, atMs: handOver.againAtMs };
  switch (phase.type) {
    case 'idle':
      return [];
    case 'queued':
      return [bridge];
    case 'asking':
      return isEarly(phase.run, nowMs)
        ? [{ name: 'attempt', atMs: phase.run.notBefore }]
        : [{ name: 'watchdog', atMs: nowMs }];
    case 'awaiting_tools': {
      const { run, turn } = phase;
      const isTimed = calls.timed.length > 0;
      const end = { name: 'calls' as const, atMs: log.deadlineOf(run, turn) };
      const atMs = calls.questions.unansweredAt(run, turn);
      const questions = atMs === null ? [] : [{ name: 'questions' as const, atMs }];
      const bridges = handOver.waiting.length > 0 ? [bridge] : [];
      return [...bridges, ...(isTimed ? [end] : []), ...questions];
    }
    default:
      return phase satisfies never;
  }
}

/** Whether the run waits for its next attempt. A wait above maxRetryAfterMs means that the clock was set back. */
export function isEarly({ notBefore }: Run, nowMs: number): boolean {
  return nowMs < notBefore && notBefore - nowMs <= UPSTREAM_LIMITS.maxRetryAfterMs;
}
