/** Runs the tools that need no machine, in the conversation's object: at once, or after asking the user. */

import { askQuestion } from '../../../../shared/tools/ask-question.ts';
import type { ToolName } from '../../../../shared/tools/catalogue.ts';
import { createPlan } from '../../../../shared/tools/create-plan.ts';
import { switchMode } from '../../../../shared/tools/switch-mode.ts';
import { todoWrite } from '../../../../shared/tools/todo-write.ts';
import type { Question, Todo } from '../../../../shared/wire/documents.ts';
import type { ToolResult } from '../../../../shared/wire/tunnel.ts';
import { layPlan } from './plan.ts';
import { questionsOf } from './questions.ts';
import { askToSwitch, type Modes } from './switch-mode.ts';
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
  if (!Object.hasOwn(WORK, tool)) return null;
  const done = WORK[tool as ToolName<'edge'>](args, situation);
  return 'status' in done
    ? { type: 'result', result: done }
    : { type: 'questions', questions: done };
}

/** What each tool does: it has a result, or asks the user. */
const WORK: Readonly<
  Record<ToolName<'edge'>, (args: unknown, situation: Situation) => ToolResult | Question[]>
> = {
  todo_write: (args, { todos }) => writeTodos(todoWrite.arguments.parse(args), todos),
  create_plan: (args) => layPlan(createPlan.arguments.parse(args)),
  ask_question: (args) => questionsOf(askQuestion.arguments.parse(args)),
  switch_mode: (args, { modes }) => askToSwitch(switchMode.arguments.parse(args).mode, modes),
};
