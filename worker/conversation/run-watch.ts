/** Reports to the log, the metrics and the traces what the runs of a conversation do. */

import type { GatewayAnswer, ModelTarget, UpstreamRequest } from '../../packages/model/index.ts';
import { responseIdOf } from '../../shared/ids.ts';
import { PROVIDERS } from '../../shared/settings/dialects.ts';
import type { Executor } from '../../shared/tools/definition.ts';
import { SECOND } from '../../shared/units.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { type LogFields, logEvent, type WorkerEvent } from '../health/log.ts';
import { metrics } from '../health/metrics.ts';
import { markSpan, type SpanFields } from '../health/spans.ts';
import type { Run } from './store/rows.ts';

interface RunEnded {
  readonly status: string;
  /** The code of the error that ended it. */
  readonly code: string | undefined;
  readonly durationMs: number;
  readonly turns: number;
  readonly calls: number;
}

interface CallSettled {
  readonly callId: string;
  readonly tool: string;
  readonly executor: Executor;
  readonly result: ToolResult;
  readonly durationMs: number;
}

/** A request to a model, and where it goes. */
interface AskedModel {
  readonly target: ModelTarget;
  readonly request: UpstreamRequest;
}

/** Nothing here is content: names, ids, codes and numbers. No method throws. */
export class RunWatch {
  readonly #of: { readonly account: string; readonly conversation: string };

  constructor(of: { readonly account: string; readonly conversation: string }) {
    this.#of = of;
  }

  started(run: Pick<Run, 'ordinal' | 'request'>): void {
    this.log('run_started', run, { model: run.request.model });
  }

  ended(run: Run, { status, code, ...work }: RunEnded): void {
    metrics.runs.add({ status });
    if (code !== undefined) metrics.errors.add({ place: 'run', code });
    markSpan(`invoke_agent ${AGENT}`, {
      ...this.#spanOf(run),
      operation: 'invoke_agent',
      agent: AGENT,
      error: code,
      model: run.request.model,
      seconds: work.durationMs / SECOND,
    });
    this.log('run_ended', run, { status, code, ...work });
  }

  settled(run: Run | undefined, { callId, tool, executor, result, durationMs }: CallSettled): void {
    const { status } = result;
    const code = result.status === 'error' ? result.code : undefined;
    metrics.calls.add({ tool, status });
    metrics.callSeconds.observe({ executor }, durationMs);
    if (code !== undefined) metrics.errors.add({ place: 'call', code });
    const span = { tool, toolType: 'function', call: callId, error: code };
    const seconds = durationMs / SECOND;
    const fields = { ...this.#spanOf(run), operation: 'execute_tool', ...span, seconds };
    markSpan(`execute_tool ${tool}`, fields);
    this.log('call_ended', run, { call: callId, tool, status, code, durationMs });
  }

  /** Asks the model, and says how long that took. `ask` calls `onPart` for each part that comes. */
  async asked(
    run: Run,
    { target, request: { model, sampling } }: AskedModel,
    ask: (onPart: () => void) => Promise<GatewayAnswer>,
  ): Promise<GatewayAnswer> {
    const startMs = Date.now();
    let firstMs: number | undefined;
    let answer: GatewayAnswer | undefined;
    try {
      answer = await ask(() => {
        firstMs ??= Date.now() - startMs;
      });
      return answer;
    } finally {
      const times = { durationMs: Date.now() - startMs, firstMs };
      const maxTokens = sampling?.maxTokens;
      this.#answered(run, { model, maxTokens, ...serverOf(target) }, times, answer?.reply);
    }
  }

  /** `reply` is undefined where the request was broken off. */
  #answered(
    run: Run,
    { model, ...asked }: Omit<SpanFields, 'model'> & { readonly model: string },
    { durationMs, firstMs }: { readonly durationMs: number; readonly firstMs: number | undefined },
    reply: GatewayAnswer['reply'] | undefined,
  ): void {
    const { outcome: status = 'cancelled', usage } = reply ?? {};
    metrics.turnSeconds.observe({ model }, durationMs);
    if (firstMs !== undefined) metrics.firstSeconds.observe({ model }, firstMs);
    const tokens = { inputTokens: usage?.promptTokens, outputTokens: usage?.completionTokens };
    markSpan(`chat ${model}`, {
      ...this.#spanOf(run),
      operation: 'chat',
      isStream: true,
      model,
      ...asked,
      ...tokens,
      cachedTokens: usage?.cachedPromptTokens,
      cacheWriteTokens: usage?.cacheWriteTokens,
      reasoningTokens: usage?.reasoningTokens,
      firstSeconds: firstMs === undefined ? undefined : firstMs / SECOND,
      seconds: durationMs / SECOND,
      error: status === 'completed' ? undefined : status,
    });
    this.log('turn_ended', run, { model, status, durationMs, firstMs, ...tokens });
  }

  #spanOf(run: Run | undefined): SpanFields {
    const { conversation } = this.#of;
    const { trace } = run?.request ?? {};
    return { conversation, run: run && responseIdOf(conversation, run.ordinal), trace };
  }

  /** Writes a line about a run, or about the conversation. */
  log(
    event: WorkerEvent,
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

function serverOf(target: ModelTarget): Pick<SpanFields, 'provider' | 'server'> {
  if (target.kind === 'demo') return { provider: AGENT };
  return { provider: PROVIDERS[target.dialect].name, server: URL.parse(target.baseUrl)?.hostname };
}

/** The agent's name in traces. */
const AGENT = 'drawbridge';
