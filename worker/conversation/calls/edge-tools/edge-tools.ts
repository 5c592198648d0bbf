/** Runs the tools that need no machine, in the conversation's object: at once, or after asking the user. */

import { askQuestion } from '../../../../shared/tools/ask-question.ts';
import type { ToolName } from '../../../../shared/tools/catalogue.ts';
import { createPlan } from '../../../../shared/tools/create-plan.ts';
import { switchMode } from '../../../../shared/tools/switch-mode.ts';
import { todoWrite } from '../../../../shared/tools/todo-write.ts';
import type { Question, Todo } from '../../../../shared/wire/documents.ts';
import type { ToolResult } from '../../../../shared/wire/tunnel.ts';
import { layPlan } from './plan.ts';
import { problemWith, questionsOf } from './questions.ts';
import { askToSwitch, type Modes, problemWithMode } from './switch-mode.ts';
import { writeTodos } from './todos.ts';

/** The outcome of a call: a result, or questions that a person must answer first. */
export type EdgeOutcome =
  | { readonly type: 'result'; readonly result: ToolResult }
  | { readonly type: 'questions'; readonly questions: Question[] };

/** What the tools work with. */
interface Situation {
  /** The conversation's list. */
  readonly todos: readonly Todo[];
  readonly modes: Modes;
}

/** Null for a tool that does not run here. `args` has passed the tool's schema. */
export function runEdgeTool(tool: string, args: unknown, situation: Situation): EdgeOutcome | null {
  return Object.hasOwn(WORK, tool) ? WORK[tool as ToolName<'edge'>](args, situation) : null;
}

const WORK: Readonly<
  Record<ToolName<'edge'>, (args: unknown, situation: Situation) => EdgeOutcome>
> = {
  todo_write: (args, { todos }) => toOutcome(writeTodos(todoWrite.arguments.parse(args), todos)),
  create_plan: (args) => toOutcome(layPlan(createPlan.arguments.parse(args))),
  ask_question: (args) => ask(askQuestion.arguments.parse(args)),
  switch_mode: (args, { modes }) => propose(switchMode.arguments.parse(args).mode, modes),
};

function ask(args: Parameters<typeof questionsOf>[0]): EdgeOutcome {
  const problem = problemWith(args);
  return problem ? toOutcome(problem) : { type: 'questions', questions: questionsOf(args) };
}

function propose(mode: string, modes: Modes): EdgeOutcome {
  const problem = problemWithMode(mode, modes);
  return problem ? toOutcome(problem) : { type: 'questions', questions: askToSwitch(mode, modes) };
}

function toOutcome(result: ToolResult): EdgeOutcome {
  return { type: 'result', result };
}
