/** Finds what a caller names, or throws NOT_FOUND. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { offeredTools } from './log/offered-tools.ts';
import type { Parts } from './parts.ts';
import type { Run } from './store/rows.ts';

/** The same answer for an id that does not exist and for one that belongs to another account. */
export function notFound(what: 'conversation' | 'response' | 'agent'): DrawbridgeError {
  return new DrawbridgeError('NOT_FOUND', `There is no such ${what}`);
}

export function agentOf({ agent }: Pick<Parts, 'agent'>): NonNullable<Parts['agent']> {
  if (!agent) throw notFound('agent');
  return agent;
}

export function runOf({ log }: Pick<Parts, 'log'>, ordinal: number): Run {
  const run = log.find(ordinal);
  if (!run) throw notFound('response');
  return run;
}

/** The names of the agent's own tools that a run has; null before its start. */
export function offeredBy(run: Run): string[] | null {
  if (run.started === null) return null;
  const own = offeredTools(run).filter(({ executor }) => executor !== 'client');
  return own.map(({ name }) => name);
}
