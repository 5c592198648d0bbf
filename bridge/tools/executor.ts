/** What runs a tool call on this machine, and what it answers. */
import type * as z from 'zod';
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { ToolFailure } from '../failure.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { ReadLedger } from './ledger.ts';

/** What a call runs in. */
export interface ToolContext {
  readonly workspace: Workspace;
  readonly ledger: ReadLedger;
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
  readonly conversationId: string;
  /** Takes live output as it comes; the result has the bounded whole. */
  readonly onOutput: (text: string) => void;
}

/**
 * Runs one call whose arguments the tool's schema has parsed. A failure that can be expected is a result with status
 * `error`. It throws only for a bug, and the signal's reason when the call was cancelled.
 */
export type ToolExecutor<Args> = (args: Args, context: ToolContext) => Promise<ToolResult>;

/** The arguments of a tool, as its schema leaves them. */
export type ArgumentsOf<Tool extends ToolDefinition> = z.output<Tool['arguments']>;

/** An executor out of work that throws {@link ToolFailure}: the one place where such a failure becomes a result. */
export function executor<Args>(work: ToolExecutor<Args>): ToolExecutor<Args> {
  return async (args, context) => {
    try {
      context.signal.throwIfAborted();
      return await work(args, context);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof ToolFailure) return toErrorResult(error);
      throw error;
    }
  };
}

/** The result that tells of a failure. */
export function toErrorResult({ code, message }: ToolFailure): ToolResult {
  return { status: 'error', code, data: message };
}
