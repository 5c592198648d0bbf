/** What comes next: pure over the request and the results so far, so that the same history always goes on the same. */
import type { Call } from './calls.ts';
import type { History } from './history.ts';
import { intentOf } from './intent.ts';
import { progressOf } from './progress.ts';
import type { Step, Wish } from './steps.ts';
import { needsTodos, todoCalls } from './todos.ts';
import { ASK_FIRST, announce, HELP, INTRODUCTION, LEAVE } from './words.ts';

/** One answer: what it says, then what it calls. Without calls the request is done. */
export interface Move {
  readonly text: string;
  readonly calls: readonly Call[];
}

export function nextMove(
  wishes: readonly Wish[],
  history: History,
  tools: ReadonlySet<string>,
): Move {
  const { text, calls } = moveOf(wishes, history, tools);
  const introduction = history.isFirstAnswer ? [INTRODUCTION] : [];
  return { text: [...introduction, text].join('\n\n'), calls };
}

function moveOf(wishes: readonly Wish[], history: History, tools: ReadonlySet<string>): Move {
  const asked = history.turns.flat().filter(({ tool }) => tool === 'ask_question');
  const intent = intentOf(wishes, tools, asked);
  switch (intent.type) {
    case 'ask':
      return { text: ASK_FIRST, calls: [intent.call] };
    case 'leave':
      return { text: LEAVE, calls: [] };
    case 'do':
      return nextStep(intent.steps, history, tools);
  }
}

function nextStep(steps: readonly Step[], history: History, tools: ReadonlySet<string>): Move {
  if (steps.every((step) => step.type === 'unknown')) return { text: HELP, calls: [] };
  const turns = history.turns
    .map((turn) => turn.filter(({ tool }) => !ASIDE.has(tool)))
    .filter((turn) => turn.length > 0);
  const results = turns.flat();
  const now = progressOf(steps, results, tools);
  const before = turns.length === 0 ? null : progressOf(steps, turns.slice(0, -1).flat(), tools);
  const start = progressOf(steps, [], tools);
  const todos = needsTodos(steps, start, tools) ? todoCalls(steps, now, before) : [];
  // The last todos go out alone, and what was done is told in the answer after them.
  const isTold = history.turns.at(-1)?.every(({ tool }) => tool === 'todo_write');
  if (now.calls.length === 0 && todos.length > 0 && !isTold) return { text: '', calls: todos };
  // What ended in an earlier turn was reported then.
  const reported = results.length - (turns.at(-1)?.length ?? 0);
  const news = now.ended.filter(({ end }) => turns.length === 0 || end > reported);
  const words = news.map(({ words }) => words);
  if (now.calls.length === 0) return { text: words.join('\n\n'), calls: [] };
  words.push(announce(now.calls));
  return { text: words.join('\n\n'), calls: [...todos, ...now.calls] };
}

/** Tools whose results belong to no step. */
const ASIDE: ReadonlySet<string> = new Set(['todo_write', 'ask_question']);
