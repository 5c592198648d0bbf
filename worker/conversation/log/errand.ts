/** What a run is for, by its request. */
import type { RunRequest, SubagentRole } from '../store/rows.ts';

/** Undefined for the run of no subagent. */
export function subagentOf(request: RunRequest): SubagentRole | undefined {
  return request.type === 'subagent' ? request.subagent : undefined;
}

/** Whether the run only shows something to people: no model learns of it. */
export function isPreview(request: RunRequest): boolean {
  return request.type === 'undo' && request.undo.preview;
}

/** Whether messages can steer the run: a run that asks no model for an answer has no use for one. */
export function asksModel({ type }: RunRequest): boolean {
  return type !== 'guest' && type !== 'save' && type !== 'undo' && type !== 'compact';
}
