/** `create_plan`: checks the model's plan and makes the call's result of it. Pure. */
import type * as z from 'zod';
import type { PlanMetadata, Todo } from '../../../../shared/documents.ts';
import type { createPlan } from '../../../../shared/tools/create-plan.ts';
import type { ToolResult } from '../../../../shared/tunnel.ts';

type Arguments = z.output<typeof createPlan.arguments>;

/** The metadata goes to the document; its `list` becomes the conversation's todos. */
export function layPlan({ name, overview, todos: steps }: Arguments): ToolResult {
  const ids = new Set(steps.map(({ id }) => id));
  const problem = ids.size < steps.length ? 'Two todos have the same id.' : cycleIn(steps, ids);
  if (problem) return { status: 'error', code: 'INVALID_ARGUMENTS', data: problem };
  const todos = steps.map((step): Todo => ({ ...step, status: 'pending' }));
  const metadata = {
    title: name,
    overview,
    todos,
    format: 'markdown',
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

type Step = Arguments['todos'][number];

/** Why no order satisfies the todos' dependencies; null when one does. */
function cycleIn(steps: readonly Step[], ids: ReadonlySet<string>): string | null {
  const unknown = steps.find(({ dependencies }) => dependencies.some((id) => !ids.has(id)));
  if (unknown) return `The todo ${unknown.id} depends on one that is not in the plan.`;
  const done = new Set<string>();
  let open = [...steps];
  while (open.length > 0) {
    const ready = open.filter(({ dependencies }) => dependencies.every((id) => done.has(id)));
    if (ready.length === 0) return `The todo ${open[0]?.id} depends on itself, by way of others.`;
    for (const { id } of ready) done.add(id);
    open = open.filter(({ id }) => !done.has(id));
  }
  return null;
}
