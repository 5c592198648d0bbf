/** How far a request has come: pure over its steps and the results so far. */
import { type Call, callsOf, changesThings, hasFailed, TOOLS_OF } from './calls.ts';
import type { Result } from './history.ts';
import type { Step } from './steps.ts';
import { report, reportMissing, reportStopped } from './words.ts';

export interface Progress {
  /** The steps that are over, from the first on. */
  readonly ended: readonly Ended[];
  /** To be made next; none when nothing is left to do, though not every step may be over. */
  readonly calls: readonly Call[];
}

export interface Ended {
  /** What it came to. */
  readonly words: string;
  /** After how many results of all steps. */
  readonly end: number;
  readonly succeeded: boolean;
}

/** Hands the results out to the steps in order, up to the step that has calls still to make. */
export function progressOf(
  steps: readonly Step[],
  results: readonly Result[],
  tools: ReadonlySet<string>,
): Progress {
  const ended: Ended[] = [];
  let end = 0;
  for (const [index, step] of steps.entries()) {
    const rest = steps.slice(index + 1);
    const missing = TOOLS_OF[step.type].find((name) => !tools.has(name));
    const own: Result[] = [];
    for (let calls = callsOf(step, own); !missing && calls.length > 0; calls = callsOf(step, own)) {
      if (end >= results.length)
        return { ended, calls: [...calls, ...alongside(step, rest, tools)] };
      own.push(...results.slice(end, end + calls.length));
      end += calls.length;
    }
    const succeeded = !missing && !hasFailed(step, own);
    const words = [missing ? reportMissing(step, tools) : report(step, own)];
    const stops = rest.length > 0 && changesThings(step) && !succeeded;
    if (stops) words.push(reportStopped(rest));
    ended.push({ words: words.join('\n\n'), end, succeeded });
    if (stops) break;
  }
  return { ended, calls: [] };
}

/** Steps that only look, with one call each, do not wait for each other: they go out in one turn. */
function alongside(step: Step, rest: readonly Step[], tools: ReadonlySet<string>): readonly Call[] {
  if (!looksOnce(step, tools)) return [];
  const dependent = rest.findIndex((other) => !looksOnce(other, tools));
  const independent = dependent < 0 ? rest : rest.slice(0, dependent);
  return independent.flatMap((other) => callsOf(other, []));
}

function looksOnce({ type }: Step, tools: ReadonlySet<string>): boolean {
  return LOOKS_ONCE.has(type) && TOOLS_OF[type].every((name) => tools.has(name));
}

const LOOKS_ONCE: ReadonlySet<Step['type']> = new Set([
  'read',
  'list',
  'find',
  'search',
  'explore',
]);
