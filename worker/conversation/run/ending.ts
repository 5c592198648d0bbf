/** The end of a run: closes its open documents, then stores the end and shows it to followers. */

import { responseIdOf } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import type { RowMeter } from '../../storage/row-meter.ts';
import { closingEvents } from '../calls/tool-events.ts';
import type { NewTurn, Run } from '../store/rows.ts';
import { type ErrorReport, errorDocument } from '../tape/error-document.ts';
import { doneEvent, type EndStatus } from '../tape/run-events.ts';
import { budgetState, spendingOf } from './budget.ts';
import { NOT_RUN, reportOf } from './failures.ts';
import type { RunDeps } from './run-deps.ts';
import { unsearched } from './steps/debug-check.ts';

export class RunEnding {
  readonly #deps: RunDeps;
  readonly #rows: RunRows;

  constructor(deps: RunDeps, rows: RunRows) {
    this.#deps = deps;
    this.#rows = rows;
  }

  /** Ends the current run or a waiting one. `turn` is the run's last turn, where it is not stored yet. */
  end(run: Run, status: EndStatus, last: readonly TapeEvent[] = [], turn?: NewTurn): void {
    const { log, recorder, conversationId, head, now, onEnd, advance, watch } = this.#deps;
    const { settings, subagents } = this.#deps;
    const startedMs = run.started === null ? now() : Date.parse(recorder.response?.created ?? '');
    const responseId = responseIdOf(conversationId, run.ordinal);
    const durationMs = Math.max(0, now() - startedMs);
    const spending = spendingOf(run, log, turn);
    const models = new Set(
      [...spending.turns, ...spending.windows].flatMap(({ model }) => model ?? []),
    );
    const rows = run.started === null ? undefined : this.#rows.take(run, models.size);
    const { unavailableTools, attachments } =
      (run.started !== null && recorder.response?.metadata) || {};
    const adjusted = [...new Set(spending.turns.flatMap((one) => one.adjusted ?? []))];
    const sent = {
      ...(adjusted.length > 0 && { adjusted }),
      ...(turn?.output !== undefined && { output: turn.output }),
      ...(unavailableTools && { unavailableTools }),
      ...(attachments && { attachments }),
    };
    const budget = budgetState(run, spending, durationMs, settings);
    const work = { ...spending, durationMs, rows, sent, budget };
    recorder.record([...last, doneEvent(responseId, status, work)]);
    const left = run.started === null ? [] : log.pending.map(({ call }) => call);
    if (turn) log.addTurn(run, { ...turn, end: { status, last: head() } });
    else log.end(run, { status, last: head() });
    const { turns } = spending;
    const calls = turns.reduce((count, turn) => count + turn.calls.length, 0);
    watch.ended(run, { status, code: codeIn(last), durationMs, turns: turns.length, calls });
    subagents.recall(left);
    onEnd(run.ordinal);
    advance();
  }

  /** Ends the current run with an error, if there is one. */
  fail(error: ErrorReport): void {
    const { log, recorder } = this.#deps;
    const run = log.current;
    if (run?.status !== 'running') return;
    this.breakOff(NOT_RUN);
    this.end(run, 'error', errorDocument(recorder.nextSequence, error, run.request.trace));
  }

  /** Ends the current run with an error. Never throws: the watchdog returns to a run whose failure is not stored. */
  failOn(thrown: unknown): void {
    try {
      this.fail(reportOf(thrown));
    } catch (error) {
      this.#deps.watch.log('run_unended', this.#deps.log.current, { error });
    }
  }

  /** For a run that ends without success: closes its documents with `result`, and says what a debug run may leave. */
  breakOff(result: ToolResult): void {
    const { log, recorder } = this.#deps;
    const calls = new Map(log.pending.map(({ call }) => [call.documentId, call]));
    const open =
      recorder.response?.documents.filter(({ id }) => recorder.openDocuments.has(id)) ?? [];
    recorder.record(
      open.flatMap((document) =>
        closingEvents(document, calls.get(document.id), result, log.toolbox),
      ),
    );
    const left = log.current && unsearched(log.current, log);
    if (left) recorder.record(errorDocument(recorder.nextSequence, left));
  }
}

/** The code of the error document among the last events of a run. */
function codeIn(last: readonly TapeEvent[]): string | undefined {
  for (const event of last) {
    if (event.type !== 'document_start' || event.document.type !== 'error') continue;
    return String(event.document.metadata?.['errorCode']);
  }
  return undefined;
}

/** The rows of a run's end: its events on the tape, and its last turn or its own row. */
const END_ROWS = 2;
/** Rows in the account's list: one at each answer, and one more before the first answer. */
const LISTED_ROWS = 1;
/** Rows in the account of a conversation that is not listed, with usage: what is counted, and its deletion. */
const UNLISTED_ROWS = 2;

/**
 * Counts the rows that a response reports: those written in all objects while its run was current. Rows of an instance
 * that a crash ended are counted from what it stored. A waiting message counts for the current response.
 */
export class RunRows {
  readonly #meter: RowMeter;
  readonly #isListed: boolean;
  /** The meter's value at which counting begins. */
  #from: number;

  /** `storedRows` were written by earlier instances; null for a conversation that this instance created. */
  constructor(meter: RowMeter, storedRows: number | null, isListed: boolean) {
    this.#meter = meter;
    this.#isListed = isListed;
    this.#from = storedRows === null ? 0 : meter.rows - storedRows;
  }

  /** The run's rows with those of its end, here and one for each of `models`. Call it once, before the end. */
  take({ ordinal }: Run, models: number): number {
    const rows = this.#meter.rows - this.#from + END_ROWS + models;
    this.#from = this.#meter.rows + END_ROWS;
    if (!this.#isListed) return rows + (models > 0 ? UNLISTED_ROWS : 0);
    return rows + (ordinal === 1 ? 2 : 1) * LISTED_ROWS;
  }
}
