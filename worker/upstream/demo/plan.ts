/** What comes next: pure over the steps and the results so far, so that the same history always goes on the same. */
import { type Call, callsOf, changesThings, hasFailed, TOOLS_OF } from './calls.ts';
import type { History, Result } from './history.ts';
import type { Step } from './steps.ts';
import { announce, HELP, INTRODUCTION, report, reportMissing, reportStopped } from './words.ts';

/** One answer: what it says, then what it calls. Without calls the request is done. */
export interface Move {
  readonly text: string;
  readonly calls: readonly Call[];
}

export function nextMove(
  steps: readonly Step[],
  history: History,
  tools: ReadonlySet<string>,
): Move {
  const { turns, isFirstAnswer } = history;
  const introduction = isFirstAnswer ? [INTRODUCTION] : [];
  if (steps.every((step) => step.type === 'unknown')) {
    return { text: [...introduction, HELP].join('\n\n'), calls: [] };
  }
  const { ended, calls } = replay(steps, turns.flat(), tools);
  // What ended in an earlier turn was reported then.
  const reported = turns.flat().length - (turns.at(-1)?.length ?? 0);
  const news = ended.filter(({ end }) => turns.length === 0 || end > reported);
  const words = [...introduction, ...news.map(({ words }) => words)];
  if (calls.length > 0) words.push(announce(calls));
  return { text: words.join('\n\n'), calls };
}

/** A step that is over: in words, and after how many results. */
interface Ended {
  readonly words: string;
  readonly end: number;
}

/** Hands the results out to the steps in order, up to the step that has calls still to make. */
function replay(
  steps: readonly Step[],
  results: readonly Result[],
  tools: ReadonlySet<string>,
): { ended: Ended[]; calls: readonly Call[] } {
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
    ended.push({ words: missing ? reportMissing(step, tools) : report(step, own), end });
    if (rest.length > 0 && changesThings(step) && (missing || hasFailed(step, own))) {
      ended.push({ words: reportStopped(rest), end });
      break;
    }
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
  const looks = type === 'read' || type === 'list' || type === 'find' || type === 'search';
  return looks && TOOLS_OF[type].every((name) => tools.has(name));
}
