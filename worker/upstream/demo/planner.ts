/** Decides the demo model's next move. Pure: the same history gives the same move. */
import { toolsRunBy } from '../../../shared/tools/catalogue.ts';
import { code, type DemoCall, joined, readResult, report } from './calls.ts';
import { INTENTS, parseSteps } from './intents.ts';
import { type DemoStep, PLAN_BEGINS, plan } from './steps.ts';

/** The conversation so far. */
export interface Talk {
  /** The user's last request. */
  readonly query: string;
  /** Whether the conversation has no answer yet. */
  readonly isFirstAnswer: boolean;
  /** Texts of the results since the request, one list per turn, in call order. */
  readonly turns: readonly (readonly string[])[];
}

/** One answer: first the text, then the calls. Without calls the request is done. */
export interface Move {
  readonly text: string;
  readonly calls: readonly DemoCall[];
}

type Tools = ReadonlySet<string>;

const INTRODUCTION =
  "I am Drawbridge's built-in demo model: a small planner with fixed rules, not a language model.";

const HELP = `I understand plain requests about the files of this workspace, such as:

${INTENTS.map(({ example }) => `- ${example}`).join('\n')}

Join several with "then". Anything more needs a real model: the terminal that started this server names the command
that chooses one, and the next start uses it. A hosted server takes \`OPENAI_BASE_URL\` and \`OPENAI_API_KEY\`.`;

/** Decides from the conversation alone, so a repeated request gets the same answer. `tools` are those on offer. */
export function nextMove(talk: Talk, tools: Tools): Move {
  const { text, calls } = moveOf(talk, tools);
  return { text: talk.isFirstAnswer ? `${INTRODUCTION}\n\n${text}` : text, calls };
}

function moveOf({ query, turns }: Talk, tools: Tools): Move {
  const steps = planned(parseSteps(query), tools);
  const queue = steps.filter(({ calls }) => calls.length > 0);
  if (queue.length === 0) return { text: HELP, calls: [] };
  const unknown = turns.length > 0 ? [] : steps.filter((step) => !queue.includes(step));
  let words = unknown.map(({ title }) => `I did not understand ${code(title)}, so I left it.`);
  let isStopped = false;
  // Turn N holds the results of step N.
  for (const [index, texts] of turns.entries()) {
    const { calls = [], follow } = queue[index] ?? {};
    const results = calls.map((call, place) => readResult(call, texts[place] ?? ''));
    const following = follow?.(results) ?? [];
    queue.splice(index + 1, 0, ...following);
    words = results.map(report).filter((text) => text !== '');
    isStopped = following.length === 0 && results.some(({ failed }) => failed);
  }
  const [next, ...later] = queue.slice(turns.length);
  if (!next) return { text: words.join('\n\n'), calls: [] };
  const problem = isStopped ? null : problemWith(next, tools);
  if (!isStopped && !problem) {
    return { text: [...words, `I'll ${next.title}.`].join('\n\n'), calls: next.calls };
  }
  if (problem) words.push(problem);
  const undone = (problem ? later : [next, ...later]).map(({ title }) => title);
  if (undone.length > 0) words.push(`So I stopped there, and did not ${joined(undone)}.`);
  return { text: words.join('\n\n'), calls: [] };
}

const CHANGES = new Set([
  'write',
  'str_replace',
  'delete_file',
  'run_terminal_cmd',
  'ask_question',
]);

/** Replaces the steps from PLAN_BEGINS on, in plan mode from the first change on, by a plan. */
function planned(steps: readonly DemoStep[], tools: Tools): readonly DemoStep[] {
  // Agent mode offers create_plan too, but makes changes.
  const isPlanMode = tools.has('create_plan') && !tools.has('todo_write') && !tools.has('write');
  const start = steps.findIndex(
    (step) =>
      step === PLAN_BEGINS || (isPlanMode && step.calls.some(({ name }) => CHANGES.has(name))),
  );
  const rest = steps.slice(start).filter((step) => step !== PLAN_BEGINS);
  return start < 0 || rest.length === 0 ? steps : [...steps.slice(0, start), plan(rest)];
}

/** Why the step cannot begin; null if it can. */
function problemWith({ title, calls }: DemoStep, tools: Tools): string | null {
  const missing = calls.find(({ name }) => !tools.has(name))?.name;
  if (missing === undefined) return null;
  const why = [...tools].every((name) => toolsRunBy('edge').some((tool) => tool.name === name))
    ? 'there are no tools for that, because no bridge to a machine is attached'
    : `${code(missing)} is not on offer in this mode or on this bridge`;
  return `I could not ${title}: ${why}.`;
}
