/** `create_plan`: checks the model's plan and makes the call's result of it. Pure. */
import type * as z from 'zod';
import type { createPlan } from '../../../../shared/tools/create-plan.ts';
import type { PlanMetadata, Todo } from '../../../../shared/wire/documents.ts';
import { problemOf } from '../../../../shared/wire/plans.ts';
import { failure, type ToolResult } from '../../../../shared/wire/tunnel.ts';

type PlanArguments = z.output<typeof createPlan.arguments>;

/** The metadata goes to the document; its `list` becomes the conversation's todos. */
export function layPlan({ name, overview, todos: steps }: PlanArguments): ToolResult {
  const problem = problemOf(steps);
  if (problem) return failure('INVALID_ARGUMENTS', `${problem.message}.`);
  const todos = steps.map((step): Todo => ({ ...step, status: 'pending' }));
  const metadata = {
    title: name,
    overview,
    todos,
    format: 'markdown',
    version: 1,
    list: todos,
  } satisfies PlanMetadata & { list: Todo[] };
  return {
    status: 'success',
    data: LAID,
    metadata,
  };
}

const LAID =
  'The user sees the plan now: do not repeat it. In plan mode, or where they did not ask you to carry it out, end with a ' +
  'sentence at most, and leave the rest to them. Else go on, and keep its todos up to date with todo_write.';
