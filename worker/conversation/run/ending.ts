/** The end of a run: what was open is closed, the end is stored and told. */
import type { TapeEvent } from '../../../shared/events.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import type { ToolResult } from '../../../shared/tunnel.ts';
import { closingEvents, errorDocument } from '../calls/tool-events.ts';
import type { NewTurn, Run } from '../store/rows.ts';
import type { ErrorReport } from './error-report.ts';
import { NOT_RUN, reportOf } from './failures.ts';
import type { RunDeps } from './run-deps.ts';
import { doneEvent, type EndStatus } from './run-end.ts';
import type { RunRows } from './run-rows.ts';

export class Ending {
  readonly #deps: RunDeps;
  readonly #rows: RunRows;

  constructor(deps: RunDeps, rows: RunRows) {
    this.#deps = deps;
    this.#rows = rows;
  }

  /** Ends a run, whether it was at work or waited. `turn` is its last one, where it is not stored yet. */
  end(run: Run, status: EndStatus, last: readonly TapeEvent[] = [], turn?: NewTurn): void {
    const { log, recorder, conversationId, head, now, onEnd, advance } = this.#deps;
    const startedMs = run.started === null ? now() : Date.parse(recorder.response?.created ?? '');
    const responseId = responseIdOf(conversationId, run.ordinal);
    const durationMs = Math.max(0, now() - startedMs);
    const turns = run.started === null ? [] : [...log.turns, ...(turn ? [turn] : [])];
    const rows = run.started === null ? undefined : this.#rows.take(run);
    const { unavailableTools } = (run.started !== null && recorder.response?.metadata) || {};
    const work = { turns, windows: log.windowsOf(run), durationMs, rows, unavailableTools };
    recorder.record([...last, doneEvent(responseId, status, work)]);
    if (turn) log.addTurn(run, { ...turn, end: { status, last: head() } });
    else log.end(run, { status, last: head() });
    onEnd(run.ordinal);
    advance();
  }

  /** Ends the run at work with an error, if there is one. */
  fail(error: ErrorReport): void {
    const { log, recorder } = this.#deps;
    const run = log.current;
    if (run?.status !== 'running') return;
    this.closeDocuments(NOT_RUN);
    this.end(run, 'error', errorDocument(recorder.nextSequence, error));
  }

  /** Never throws: when not even the failure can be stored, the watchdog comes back to the run. */
  failOn(thrown: unknown): void {
    try {
      this.fail(reportOf(thrown));
    } catch (error) {
      console.error('a failed run could not be ended', error);
    }
  }

  /** Closes what is open of the run at work; `result` is what its calls came to. */
  closeDocuments(result: ToolResult): void {
    const { log, recorder } = this.#deps;
    const calls = new Map(log.pending.map(({ call }) => [call.documentId, call]));
    const open =
      recorder.response?.documents.filter(({ id }) => recorder.openDocuments.has(id)) ?? [];
    recorder.record(
      open.flatMap((document) => closingEvents(document, calls.get(document.id), result)),
    );
  }
}
