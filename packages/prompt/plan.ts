/** Gives the model a plan: after a person has edited it, and when it is to be executed. */
import { inOrder, type PlanState } from '../../shared/wire/plans.ts';
import { tagged } from './escape.ts';

/** A message of its own, in the place where the person edited the plan. */
export function buildPlanNote(plan: PlanState): string {
  return [
    'The user has edited the plan. This is the new plan with its list of todos; it replaces the earlier ones.',
    tagged('plan', formatPlan(plan)),
  ].join('\n\n');
}

/** What stands before the query of a run that executes the plan. */
export function buildExecution(plan: PlanState): string[] {
  return [tagged('plan', formatPlan(plan)), plan.todos.length > 0 ? IN_ORDER : AS_A_WHOLE];
}

/** The plan in Markdown. Its todos are in the order of work. */
function formatPlan({ title, overview, content, todos }: PlanState): string {
  const lines = inOrder(todos).map(({ id, content: what, status, dependencies }) => {
    const after = dependencies.length > 0 ? ` (after ${dependencies.join(', ')})` : '';
    return `- [${status}] ${id}: ${what}${after}`;
  });
  const list = lines.length > 0 ? [`## Todos\n\n${lines.join('\n')}`] : [];
  return [`# ${title}`, overview, content, ...list].filter((part) => part !== '').join('\n\n');
}

const IN_ORDER = `<executing_a_plan>
The user has approved the plan above and wants you to carry it out. Its todos are already your list, in the order of work: do
not write the list again. Start a todo only when all todos that it depends on are completed. Set it in_progress with
todo_write before you start, and completed as soon as it is done. Do not repeat todos that are completed or cancelled. An
earlier attempt may have stopped in the middle of a todo: look at the files before you start one. If a todo cannot be done,
leave it open, say why, and go on with those that do not depend on it.
</executing_a_plan>`;

const AS_A_WHOLE = `<executing_a_plan>
The user has approved the plan above and wants you to carry it out. An earlier attempt may have done a part of it: look at the
files before you start.
</executing_a_plan>`;
