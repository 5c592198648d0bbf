/** What the wishes of a request come to with the tools on offer: where there are plans, changes are laid out, not made. */
import { questionCall, readAnswer } from './asking.ts';
import { type Call, changesThings, TOOLS_OF } from './calls.ts';
import type { Result } from './history.ts';
import type { Step, Wish } from './steps.ts';
import { looksFor } from './written-plan.ts';

export type Intent =
  | { readonly type: 'do'; readonly steps: readonly Step[] }
  | { readonly type: 'ask'; readonly call: Call }
  /** The user was asked, and wrote no answer. */
  | { readonly type: 'leave' };

/** `asked` are the results of the questions so far: one for each name that was not said, in their order. */
export function intentOf(
  wishes: readonly Wish[],
  tools: ReadonlySet<string>,
  asked: readonly Result[],
): Intent {
  const start = wishes.findIndex((wish) => isForPlan(wish, tools));
  const atOnce = (start < 0 ? wishes : wishes.slice(0, start)).flatMap(unpack);
  const planned = (start < 0 ? [] : wishes.slice(start)).flatMap(unpack);
  const unnamed = planned.filter(({ type }) => type === 'unnamed');
  const names = asked.map(readAnswer);
  if (names.includes(null)) return { type: 'leave' };
  if (unnamed.length > names.length && ASKING.every((name) => tools.has(name))) {
    return { type: 'ask', call: questionCall() };
  }
  const steps = atOnce.map((wish) => stepOf(wish, tools, null));
  if (start < 0) return { type: 'do', steps };
  const laidOut = planned.map((wish) => stepOf(wish, tools, names[unnamed.indexOf(wish)] ?? null));
  return { type: 'do', steps: [...steps, planOf(laidOut, tools)] };
}

const ASKING = [...TOOLS_OF.plan, 'ask_question'];

type Single = Exclude<Wish, { type: 'planning' }>;

function unpack(wish: Wish): Single[] {
  return wish.type === 'planning' ? wish.wishes.flatMap(unpack) : [wish];
}

/** Where it begins to be about changes: from there on, reading belongs to the plan as well. */
function isForPlan(wish: Wish, tools: ReadonlySet<string>): boolean {
  if (wish.type === 'planning') return true;
  // Agent mode has plans too, but there changes are made.
  if (!tools.has('create_plan') || tools.has('todo_write') || tools.has('write')) return false;
  const isChange = wish.type === 'unknown' && CHANGE.test(wish.text);
  return changesThings(wish) || wish.type === 'unnamed' || isChange;
}

/** The words of a change that only a language model could make, but that a plan can hold. */
const CHANGE =
  /^(?:add|build|change|create|delete|extract|fix|implement|make|migrate|move|refactor|remove|rename|replace|rewrite|run|simplify|split|update|write)\s/i;

function stepOf(wish: Single, tools: ReadonlySet<string>, name: string | null): Step {
  switch (wish.type) {
    case 'unnamed':
      return name === null
        ? { type: 'unknown', text: wish.text }
        : { type: 'write', path: name, content: wish.content };
    case 'explore':
      return tools.has('codebase_search')
        ? wish
        : { type: 'search', pattern: wish.pattern, path: null };
    default:
      return wish;
  }
}

function planOf(steps: readonly Step[], tools: ReadonlySet<string>): Step {
  if (steps.length === 0) return { type: 'unknown', text: 'plan' };
  return { type: 'plan', steps, looks: looksFor(steps, tools) };
}
