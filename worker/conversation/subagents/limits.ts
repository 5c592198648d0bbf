/** Limits of subagents. A tree is a response of a person's conversation with all subagents below it. */
import { MINUTE, SECOND } from '../../../shared/units.ts';

export const TASK_LIMITS = {
  /** Levels below the root. Real work divides once; a second level is for a general subagent that explores. */
  maxDepth: 2,
  /** Subagents that run at once for one conversation; further ones wait in order. Model servers limit requests at once. */
  maxAtOnce: 4,
  /** Subagents of one tree. Sixteen explorers of a large repository, twice, and some below them. */
  maxInTree: 40,
  /** A subagent may start one in so many of the subagents that its parent has left, so the first cannot take all. */
  shareOfLeft: 8,
  /** The part of the time left in its parent's budget that a subagent may take: the rest is for the answer. */
  shareOfTime: 0.8,
  /** Requests to the model in the run of a subagent and of those below it: half of what an answer may take. */
  maxTurns: 50,
  /** UTF-16 units of a subagent's last message that the model gets: some ten pages. */
  maxResultChars: 30_000,
  /** Between two reports of mere progress: each wakes the parent and costs it up to a row. */
  progressMs: 5 * SECOND,
  /** The wait before another attempt to reach a subagent, or its parent. */
  retryMs: 5 * SECOND,
  /** Attempts in a row after which a subagent counts as lost: five minutes. A restart takes some tens of milliseconds. */
  maxRetries: 60,
  /** A subagent that was silent for so long is asked for its state: its own alarm brings it back sooner. */
  lookMs: 5 * MINUTE,
  /** Tools that `activity` names. */
  maxNamedTools: 4,
} as const;
