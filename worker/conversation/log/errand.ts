/** What a run is for, by its request. */
import type { RunRequest, SubagentRole } from '../store/rows.ts';

/** Undefined for the run of no subagent. */
export function subagentOf(request: RunRequest): SubagentRole | undefined {
  return request.type === 'subagent' ? request.subagent : undefined;
}

/** Whether messages can steer the run: a run that asks no model has no use for one. */
export function asksModel({ type }: RunRequest): boolean {
  return type !== 'guest' && type !== 'save';
}
