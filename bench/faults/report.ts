/** Writes the results of the rounds as text. Pure. */
import { median, percentile } from '../statistics.ts';
import { FAULTS, type RoundResult, SLOW_MS } from './round.ts';
import { ACTS, SCENARIOS } from './scenarios.ts';

const HIT_NAMES = {
  stream: 'a live stream',
  call: 'a call in flight',
  approval: 'a waiting approval',
  tree: 'running subagents',
  idle: 'nothing (idle)',
  fork: 'a fork',
  deletion: 'a fork, then deleted',
  export: 'an export',
  agent: 'an unwatched agent',
  undo: 'an undo',
} as const;

export function formatReport(results: readonly RoundResult[]): string {
  const rows = [...SCENARIOS, ...ACTS].map((hit) => {
    const those = results.filter((result) => result.hit === hit);
    return `${HIT_NAMES[hit].padEnd(20)}${String(those.length).padStart(5)}   ${formatTimes(those)}`;
  });
  const faults = FAULTS.map((fault) => {
    const count = results.flatMap((result) => result.faults).filter((one) => one.fault === fault);
    return `${fault.padEnd(20)}${String(count.length).padStart(5)}`;
  });
  const processes = ['workerd', 'bridge', 'workerd and bridge'].map((name) => {
    const those = results.filter(({ targets }) => targets.join(' and ') === name);
    return `${name.padEnd(20)}${String(those.length).padStart(5)}   ${formatTimes(those)}`;
  });
  const slow = results.filter(({ tookMs }) => tookMs > SLOW_MS);
  return [
    'kills of              n   kill to next event (ms): median, p95, max',
    ...processes,
    '',
    'kills that hit        n   kill to next event (ms): median, p95, max',
    ...rows,
    `${'all'.padEnd(20)}${String(results.length).padStart(5)}   ${formatTimes(results)}`,
    '',
    ...faults,
    `${`slow (${SLOW_MS / 1000} s)`.padEnd(20)}${String(slow.length).padStart(5)}   no fault by itself`,
    '',
  ].join('\n');
}

export function hasFaults(results: readonly RoundResult[]): boolean {
  return results.some(({ faults }) => faults.length > 0);
}

function formatTimes(results: readonly RoundResult[]): string {
  const times = results.flatMap(({ recoveryMs }) => recoveryMs ?? []);
  if (times.length === 0) return '-';
  return [median(times), percentile(times, 0.95), Math.max(...times)]
    .map((ms) => ms.toFixed(0).padStart(6))
    .join('');
}
