/** Tells the log and the metrics what the runs of a conversation do. */
import { responseIdOf } from '../../shared/ids.ts';
import type { Executor } from '../../shared/tools/definition.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { type LogEvent, type LogFields, logEvent } from '../health/log.ts';
import { metrics } from '../health/metrics.ts';
import type { Answer } from '../upstream/gateway.ts';
import type { Run } from './store/rows.ts';

/** The end of a run. */
interface RunEnded {
  readonly status: string;
  /** The code of the error that ended it. */
  readonly code: string | undefined;
  readonly durationMs: number;
  readonly turns: number;
  readonly calls: number;
}

/** A call with its result. */
interface CallSettled {
  readonly callId: string;
  readonly tool: string;
  readonly executor: Executor;
  readonly result: ToolResult;
  readonly durationMs: number;
}

/** Nothing here is content: names, ids, codes and numbers. No method throws. */
export class RunWatch {
  readonly #of: { readonly account: string; readonly conversation: string };

  constructor(of: { readonly account: string; readonly conversation: string }) {
    this.#of = of;
  }

  started(run: Pick<Run, 'ordinal' | 'request'>): void {
    this.tell('run_started', run, { model: run.request.model });
  }

  ended(run: Run, { status, code, ...work }: RunEnded): void {
    metrics.runs.add({ status });
    if (code !== undefined) metrics.errors.add({ place: 'run', code });
    this.tell('run_ended', run, { status, code, ...work });
  }

  settled(run: Run | undefined, { callId, tool, executor, result, durationMs }: CallSettled): void {
    const { status } = result;
    const code = result.status === 'error' ? result.code : undefined;
    metrics.calls.add({ tool, status });
    metrics.callSeconds.observe({ executor }, durationMs);
    if (code !== undefined) metrics.errors.add({ place: 'call', code });
    this.tell('call_ended', run, { call: callId, tool, status, code, durationMs });
  }

  /** Asks the model, and tells how long that took. `ask` calls `onPart` for each part that comes. */
  async asked(
    run: Run,
    model: string,
    ask: (onPart: () => void) => Promise<Answer>,
  ): Promise<Answer> {
    const startMs = Date.now();
    let firstMs: number | undefined;
    let answer: Answer | undefined;
    try {
      answer = await ask(() => {
        firstMs ??= Date.now() - startMs;
      });
      return answer;
    } finally {
      const durationMs = Date.now() - startMs;
      const { outcome: status = 'cancelled', usage } = answer?.reply ?? {};
      metrics.turnSeconds.observe({ model }, durationMs);
      if (firstMs !== undefined) metrics.firstSeconds.observe({ model }, firstMs);
      const tokens = usage && {
        inputTokens: usage.promptTokens,
        outputTokens: usage.completionTokens,
      };
      this.tell('turn_ended', run, { model, status, durationMs, firstMs, ...tokens });
    }
  }

  /** Writes a line about a run, or about the conversation. */
  tell(
    event: LogEvent,
    run: Pick<Run, 'ordinal' | 'request'> | undefined,
    fields: LogFields,
  ): void {
    const { account, conversation } = this.#of;
    const ids = run && {
      trace: run.request.trace,
      run: responseIdOf(conversation, run.ordinal),
    };
    logEvent(event, { ...ids, account, conversation, ...fields });
  }
}
