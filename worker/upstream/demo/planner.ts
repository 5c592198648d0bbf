/** Decides the demo model's next move. Pure: the same history gives the same move. */
import type { TodoStatus } from '../../../shared/documents.ts';
import { EDGE_TOOL_LIMITS } from '../../../shared/limits.ts';
import { toolsRunBy } from '../../../shared/tools/catalogue.ts';
import { INTENTS, PLAN_BEGINS, parseSteps } from './intents.ts';
import { plan, type Step, todoOf } from './steps.ts';
import { type Call, code, joined, readResult, report } from './tools.ts';

/** The conversation so far. */
export interface Talk {
  /** The user's last request. */
  readonly query: string;
  /** Whether the conversation has no answer yet. */
  readonly isFirstAnswer: boolean;
  /** Results since the request, one list per turn, in call order. */
  readonly turns: readonly (readonly { readonly tool: string; readonly text: string }[])[];
}

/** One answer: first the text, then the calls. Without calls the request is done. */
export interface Move {
  readonly text: string;
  readonly calls: readonly Call[];
}

type Tools = ReadonlySet<string>;

const INTRODUCTION =
  "I am Drawbridge's built-in demo model: a small planner with fixed rules, not a language model.";

const HELP = `I understand plain requests about the files of this workspace, such as:

${INTENTS.map(({ example }) => `- ${example}`).join('\n')}

Join several with "then". Anything more needs a real model: \`drawbridge config model\` chooses one, and
\`drawbridge stop\` and a new start use it. A hosted server takes \`OPENAI_BASE_URL\` and \`OPENAI_API_KEY\`.`;

/** Decides from the conversation alone, so a repeated request gets the same answer. `tools` are those on offer. */
export function nextMove(talk: Talk, tools: Tools): Move {
  const { text, calls } = moveOf(talk, tools);
  return { text: talk.isFirstAnswer ? `${INTRODUCTION}\n\n${text}` : text, calls };
}

function moveOf({ query, turns }: Talk, tools: Tools): Move {
  const steps = planned(parseSteps(query), tools);
  const known = steps.filter(({ calls }) => calls.length > 0);
  if (known.length === 0) return { text: HELP, calls: [] };
  const own = turns.map((turn) => turn.filter(({ tool }) => tool !== 'todo_write'));
  const progress = progressOf(
    known,
    own.filter((turn) => turn.length > 0),
    tools,
  );
  const { step, words } = progress;
  const unknown = turns.length > 0 ? [] : steps.filter((other) => !known.includes(other));
  words.unshift(
    ...unknown.map(({ title }) => `I did not understand ${code(title)}, so I left it.`),
  );
  const todos = known.length >= 3 && tools.has('todo_write') ? todoCalls(progress) : [];
  if (step)
    return {
      text: [...words, `I'll ${step.title}.`].join('\n\n'),
      calls: [...todos, ...step.calls],
    };
  // The final todo_write goes out alone. The answer after it reports the work.
  const isTold = todos.length === 0 || turns.length === 0 || own.at(-1)?.length === 0;
  return isTold ? { text: words.join('\n\n'), calls: [] } : { text: '', calls: todos };
}

/** Replaces the steps from PLAN_BEGINS on, in plan mode from the first change on, by a plan. */
function planned(steps: readonly Step[], tools: Tools): readonly Step[] {
  // Agent mode offers create_plan too, but makes changes.
  const isPlanMode = tools.has('create_plan') && !tools.has('todo_write') && !tools.has('write');
  const start = steps.findIndex(
    (step) => step === PLAN_BEGINS || (step.detail !== undefined && isPlanMode),
  );
  const rest = steps.slice(start).filter((step) => step !== PLAN_BEGINS);
  return start < 0 || rest.length === 0 ? steps : [...steps.slice(0, start), ...plan(rest)];
}

interface Progress {
  /** All steps, past and future, in order. */
  readonly queue: readonly Step[];
  /** For each finished step, whether it succeeded. */
  readonly ended: readonly boolean[];
  /** The next step; undefined if no step is left, or a failure stopped the rest. */
  readonly step: Step | undefined;
  /** The report of the last turn. */
  readonly words: string[];
}

/** Matches the turns to the steps: turn N holds the results of step N. */
function progressOf(steps: readonly Step[], turns: Talk['turns'], tools: Tools): Progress {
  const queue = [...steps];
  const ended: boolean[] = [];
  let words: string[] = [];
  let isStopped = false;
  for (const [index, turn] of turns.entries()) {
    const { calls = [], follow } = queue[index] ?? {};
    const results = calls.map((call, place) => readResult(call, turn[place]?.text ?? ''));
    const following = follow?.(results) ?? [];
    queue.splice(index + 1, 0, ...following);
    ended.push(!results.some(({ failed }) => failed));
    const isUnanswered = calls[0]?.name === 'ask_question' && following.length === 0;
    words = calls[0]?.name === 'ask_question' ? [] : results.map(report);
    if (isUnanswered) words.push('Without an answer I leave it at that.');
    isStopped = isUnanswered || (following.length === 0 && !ended[index]);
  }
  const next = isStopped ? undefined : queue[ended.length];
  const problem = next && problemWith(next, tools);
  if (problem) words.push(problem);
  const undone = queue.slice(ended.length + (problem ? 1 : 0)).map(({ title }) => title);
  const stops = (isStopped || problem) && undone.length > 0;
  if (stops) words.push(`So I stopped there, and did not ${joined(undone)}.`);
  return { queue, ended, words, step: problem ? undefined : next };
}

/** Why the step cannot begin; null if it can. */
function problemWith({ title, calls, needs = [] }: Step, tools: Tools): string | null {
  const missing = [...needs, ...calls.map(({ name }) => name)].find((name) => !tools.has(name));
  if (missing === undefined) return null;
  const why = [...tools].every((name) => toolsRunBy('edge').some((tool) => tool.name === name))
    ? 'there are no tools for that, because no bridge to a machine is attached'
    : `${code(missing)} is not on offer in this mode or on this bridge`;
  return `I could not ${title}: ${why}.`;
}

function todoCalls({ queue, ended, step }: Progress): Call[] {
  const todos = queue.slice(0, EDGE_TOOL_LIMITS.maxTodos).map((one, index) => {
    const rest: TodoStatus = step ? 'pending' : 'cancelled';
    const open = one === step ? 'in_progress' : rest;
    const status = ended[index] === undefined ? open : ended[index] ? 'completed' : 'cancelled';
    return { ...todoOf(one, index), status };
  });
  return [{ name: 'todo_write', arguments: { merge: false, todos } }];
}
