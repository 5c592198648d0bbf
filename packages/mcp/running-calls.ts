/** The calls that an MCP server has not answered yet: their time, their progress, and what the server asks meanwhile. */
import type { ElicitRequestFormParams, ElicitResult, Progress } from '@modelcontextprotocol/client';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import type { ToolContext } from '../host/index.ts';
import { CallClock } from './call-clock.ts';
import { CallFailure } from './call-failure.ts';
import { toElicitResult, toForm } from './elicitation.ts';
import { MCP_LIMITS } from './limits.ts';
import type { CallOptions, Connection } from './transport/connection.ts';

/** A request to the server. It ends with the signal of its options. */
export type CallWork = (connection: Connection, options: CallOptions) => Promise<ToolResult>;

interface RunningMcpCall {
  readonly context: ToolContext;
  readonly clock: CallClock;
}

/** Of one server. */
export class RunningCalls {
  readonly #calls = new Set<RunningMcpCall>();

  /**
   * `timeoutMs` is the time without progress. Rejects as the work does, with a {@link CallFailure} after that time, and
   * with any error where the context's signal has aborted.
   */
  async run(
    connection: Connection,
    context: ToolContext,
    { timeoutMs, work }: { readonly timeoutMs: number; readonly work: CallWork },
  ): Promise<ToolResult> {
    const clock = new CallClock(timeoutMs, context.signal);
    const call = { context, clock };
    const { signal } = clock;
    this.#calls.add(call);
    try {
      return await work(connection, { signal, onProgress: progressTo(context, clock) });
    } catch (error) {
      if (clock.isOver) throw new CallFailure('timeout', 'It made no progress.', { cause: error });
      throw error;
    } finally {
      this.#calls.delete(call);
      clock.end();
    }
  }

  /**
   * A server does not say which call it asks for. The question goes to the person of the newest one. While calls of
   * several conversations run, it is refused, because an answer could reach the wrong one.
   */
  async elicit(params: ElicitRequestFormParams, signal: AbortSignal): Promise<ElicitResult> {
    const calls = [...this.#calls];
    const newest = calls.at(-1);
    const conversations = new Set(calls.map(({ context }) => context.conversationId));
    if (newest === undefined) throw new Error('No person can be asked: no call is running.');
    if (conversations.size > 1) throw new Error(AMBIGUOUS);
    const form = toForm(params);
    const { context, clock } = newest;
    const answer = await clock.during(() => context.elicit(form, signal));
    return toElicitResult(answer, form);
  }
}

const AMBIGUOUS =
  'No person can be asked: calls of several conversations are running, and only one is meant.';

/** Passes progress on as lines of live output, some a second at most. */
function progressTo({ onOutput }: ToolContext, clock: CallClock) {
  let shownMs = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message = '' }: Progress) => {
    clock.restart();
    const nowMs = performance.now();
    if (nowMs - shownMs < MCP_LIMITS.progressMs) return;
    shownMs = nowMs;
    const share = total === undefined ? `${progress}` : `${progress}/${total}`;
    onOutput(`${inOneLine(`${share} ${message}`.trim().slice(0, MCP_LIMITS.maxProgressChars))}\n`);
  };
}
