/** Plans that a person edits and executes: the plan's state, the bodies of requests, and the order of its todos. */
import * as z from 'zod';
import { DocumentId, ResponseId } from '../ids.ts';
import { EDGE_TOOL_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { PlanMetadata, type Todo, TodoStatus } from './documents.ts';

const { maxTodos, maxIdChars, maxTodoChars, maxPlanChars, maxWholePlanChars } = EDGE_TOOL_LIMITS;

/** A plan as it is now. `content` is its text in Markdown. */
export const PlanState = PlanMetadata.pick({ title: true, overview: true, todos: true }).extend({
  /** 1 as the agent made it; each change by a person adds 1. A todo's new status alone does not. */
  version: z.int().positive(),
  content: z.string(),
});
named.add(PlanState, { id: 'PlanState' });
export type PlanState = z.infer<typeof PlanState>;

/** `PUT conversations/{id}/plans/{documentId}`: the plan after the change, with its place. */
export const Plan = PlanState.extend({ responseId: ResponseId, documentId: DocumentId });
named.add(Plan, { id: 'Plan' });
export type Plan = z.infer<typeof Plan>;

/** The parts of a plan's todo that decide the order of work. */
interface PlannedTodo extends Pick<Todo, 'id' | 'dependencies'> {}

/** A todo that makes the plan impossible, and the path of the field in the list of todos. */
export interface TodoProblem {
  readonly path: (string | number)[];
  readonly message: string;
}

/** The first reason why no order of work satisfies the todos; null where there is an order. */
export function problemOf(steps: readonly PlannedTodo[]): TodoProblem | null {
  const places = new Map<string, number>();
  for (const [index, { id }] of steps.entries()) {
    if (places.has(id)) return { path: [index, 'id'], message: `Two todos have the id ${id}` };
    places.set(id, index);
  }
  for (const [index, { dependencies }] of steps.entries()) {
    const unknown = dependencies.findIndex((id) => !places.has(id));
    if (unknown < 0) continue;
    const message = `There is no todo ${dependencies[unknown]} in the plan`;
    return { path: [index, 'dependencies', unknown], message };
  }
  const ordered = new Set(inOrder(steps).map(({ id }) => id));
  const stuck = steps.findIndex(({ id }) => !ordered.has(id));
  if (stuck < 0) return null;
  const message = `The todo ${steps[stuck]?.id} waits for itself, directly or through other todos`;
  return { path: [stuck, 'dependencies'], message };
}

/** The todos, each after those that it depends on, without those that no order reaches. */
export function inOrder<One extends PlannedTodo>(steps: readonly One[]): One[] {
  const ordered: One[] = [];
  const done = new Set<string>();
  let open = [...steps];
  for (let left = -1; left !== open.length; ) {
    left = open.length;
    open = open.filter((step) => {
      if (!step.dependencies.every((id) => done.has(id))) return true;
      done.add(step.id);
      ordered.push(step);
      return false;
    });
  }
  return ordered;
}

const EditedTodo = z.strictObject({
  id: z.string().min(1).max(maxIdChars),
  content: z.string().max(maxTodoChars),
  /** Absent: the todo keeps its status; a new todo is `pending`. */
  status: TodoStatus.optional(),
  /** Ids of the todos that must be completed first. */
  dependencies: z.array(z.string().max(maxIdChars)).max(maxTodos).default([]),
});

/** The whole plan as the person wants it. Todos that are left out are removed. */
export const PlanEdit = z
  .strictObject({
    /** The version that the person saw. Another present version is refused with PLAN_CHANGED. */
    version: z.int().positive(),
    /** The response of the plan: an edit then never counts for a later plan with the same document id. */
    responseId: ResponseId.optional(),
    title: z.string().trim().min(1).max(maxIdChars),
    overview: z.string().max(maxTodoChars),
    content: z.string().min(1).max(maxPlanChars),
    todos: z.array(EditedTodo).max(maxTodos),
  })
  .superRefine(({ todos }, context) => {
    const problem = problemOf(todos);
    if (!problem) return;
    const { path, message } = problem;
    context.addIssue({ code: 'custom', path: ['todos', ...path], message });
  })
  .refine((edit) => JSON.stringify(edit).length <= maxWholePlanChars, {
    message: `A plan may take ${maxWholePlanChars} characters as JSON: shorten its text or its todos`,
  });
named.add(PlanEdit, { id: 'PlanEdit' });
export type PlanEdit = z.infer<typeof PlanEdit>;
export type PlanEditInput = z.input<typeof PlanEdit>;

/** The names of a plan: its document, and its response where the client gives it. */
export interface PlanName {
  readonly documentId: string;
  readonly responseId?: string | undefined;
}
