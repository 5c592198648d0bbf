/** Where something is taken away from under a schedule. */

/** Of each, the conversation's object is lost, but for `tunnel_lost` (the bridge's) and `fork_copy` (the new one). */
export const CRASH_POINTS = [
  'before_first_byte',
  'in_text',
  'before_turn_commit',
  'calls_out',
  'tunnel_lost',
  'approval_waiting',
  'question_waiting',
  'after_result',
  'at_the_end',
  'while_queued',
  'while_sending',
  'at_rest',
  'fork_source',
  'fork_copy',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** The points that the model itself reaches: one attempt at a turn dies at each, the attempt after the last one lives. */
export type ModelPoint = 'before_first_byte' | 'in_text' | 'before_turn_commit';

/** The points that a copy reaches. */
export type CopyPoint = 'fork_source' | 'fork_copy';

/** What else happens in schedules: each of these must have happened in a whole set of them. */
export const INGREDIENTS = [
  ...(['resets', 'evictions', 'SSE followers', 'WebSocket followers'] as const),
  ...(['cursors inside a delta', 'snapshots'] as const),
  ...(['cancels in time', 'cancels too late', 'duplicates'] as const),
  ...(['sent to queue', 'sent to steer', 'sent to interrupt', 'sent or rejected'] as const),
  ...(['steered', 'rejected', 'ended as cancelled', 'forks', 'forks before the end'] as const),
] as const;
export type Ingredient = (typeof INGREDIENTS)[number];
