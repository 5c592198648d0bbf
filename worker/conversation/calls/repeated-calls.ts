/** Finds calls that a model repeats within a run, so that a person looks at them or they are refused. Pure. */
import { canonicalJson } from '../../../shared/approval-text.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import type { ToolResult } from '../../../shared/tunnel.ts';
import type { Call, Turn } from '../store/rows.ts';

/**
 * The ids of calls that were made with equal arguments at least RUN_LIMITS.repeatedCalls times, with no other write or
 * command between that could change the result. Calls that cannot run do not count.
 */
export function repeatedCalls(
  turns: readonly Pick<Turn, 'calls' | 'own'>[],
  toolbox: Toolbox,
): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const repeated = new Set<string>();
  for (const call of turns.flatMap(({ calls, own }) => (own ? [] : calls))) {
    const tool = toolbox.find(call.name);
    if (!tool || !call.arguments) continue;
    const key = keyOf(tool.name, call.arguments);
    const count = (counts.get(key) ?? 0) + 1;
    // A subagent may have changed something, too.
    if (tool.effect !== 'read' || tool.executor === 'agent') counts.clear();
    counts.set(key, count);
    if (count >= RUN_LIMITS.repeatedCalls) repeated.add(call.callId);
  }
  return repeated;
}

function keyOf(tool: string, args: NonNullable<Call['arguments']>): string {
  return `${tool} ${canonicalJson(args)}`;
}

/** The reason that the person reads. */
export const REPEATED_REASON = `The model has made this call ${RUN_LIMITS.repeatedCalls - 1} times or more already, and nothing has changed in between.`;

/** The result where no person can be asked. */
export const REPEATED: ToolResult = {
  status: 'error',
  code: 'REPEATED_CALL',
  data: 'Not run: you have made this call with these arguments before, and nothing has changed in between. Use the result you have, or try another way.',
};
