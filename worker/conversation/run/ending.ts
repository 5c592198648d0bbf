/** The end of a run: what was open is closed, the end is stored and told. */
import type { TapeEvent } from '../../../shared/events.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import type { ToolResult } from '../../../shared/tunnel.ts';
import type { RowMeter } from '../../storage/row-meter.ts';
import { closingEvents } from '../calls/tool-events.ts';
import type { NewTurn, Run } from '../store/rows.ts';
import { type ErrorReport, errorDocument } from '../tape/error-document.ts';
import { doneEvent, type EndStatus } from '../tape/run-events.ts';
import { NOT_RUN, reportOf } from './failures.ts';
import type { RunDeps } from './run-deps.ts';

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
      open.flatMap((document) =>
        closingEvents(document, calls.get(document.id), result, log.toolbox),
      ),
    );
  }
}

/** The end of a run itself: its events, and the row of its last turn or its own. */
const END_ROWS = 2;
/** In the account's list: a conversation's place at each answer, and its entry before the first one. */
const LISTED_ROWS = 1;

/**
 * What a response is said to have written, over all objects: the rows that were written while its run was at work. What an
 * instance wrote that a crash ended is counted from what it stored; a message that waits is counted with the response at work.
 */
export class RunRows {
  readonly #meter: RowMeter;
  readonly #isListed: boolean;
  /** Where the meter stood when nothing was counted yet. */
  #from: number;

  /** `storedRows` were written by earlier instances; null for a conversation that this one has just made. */
  constructor(meter: RowMeter, storedRows: number | null, isListed: boolean) {
    this.#meter = meter;
    this.#isListed = isListed;
    this.#from = storedRows === null ? 0 : meter.rows - storedRows;
  }

  /** To be called once, before the end is stored: with what that will write, here and in the account's list. */
  take({ ordinal }: Run): number {
    const rows = this.#meter.rows - this.#from + END_ROWS;
    this.#from = this.#meter.rows + END_ROWS;
    if (!this.#isListed) return rows;
    return rows + (ordinal === 1 ? 2 : 1) * LISTED_ROWS;
  }
}
