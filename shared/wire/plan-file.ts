/** Plans as Markdown files of the workspace: a head with the name, the overview and the todos, then the plan's text. */
import * as z from 'zod';
import { EDGE_TOOL_LIMITS } from '../limits.ts';
import { Todo, TodoStatus } from './documents.ts';
import { type PlanState, problemOf } from './plans.ts';

const { maxIdChars, maxTodoChars, maxPlanChars, maxTodos } = EDGE_TOOL_LIMITS;

/** The only files that a plan is saved as, relative to the workspace. */
export const PLAN_FILE = /^\.cursor\/plans\/[a-z0-9][a-z0-9-]{0,79}\.plan\.md$/;

export const PlanSlug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,79}$/,
    'A name has lower-case letters, digits and hyphens, 80 at most',
  );

/** The file of a plan with this title, or of this name. */
export function planPath(title: string, name?: string): string {
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 80);
  return `.cursor/plans/${name ?? (slug || 'plan')}.plan.md`;
}

/** A plan that a file holds. */
export type PlanContent = Omit<PlanState, 'version'>;

/** Values stand in double quotes as in JSON, which YAML takes too. */
export function formatPlanFile({ title, overview, content, todos }: PlanContent): string {
  const items = todos.flatMap(({ id, content: what, status, dependencies }) => [
    `  - id: ${JSON.stringify(id)}`,
    `    content: ${JSON.stringify(what)}`,
    `    status: ${status}`,
    ...(dependencies.length > 0 ? [`    dependencies: ${JSON.stringify(dependencies)}`] : []),
  ]);
  const list = items.length > 0 ? ['todos:', ...items] : ['todos: []'];
  const head = [`name: ${JSON.stringify(title)}`, `overview: ${JSON.stringify(overview)}`, ...list];
  return ['---', ...head, '---', '', content.trim(), ''].join('\n');
}

export type ReadPlan =
  | { readonly ok: true; readonly plan: PlanContent }
  /** `problem` completes the sentence "The plan cannot be executed: ...". */
  | { readonly ok: false; readonly problem: string };

/** Reads a head as Cursor and people write it; else the first heading, and the items with a check box. */
export function parsePlanFile(text: string): ReadPlan {
  const lines = text.split(/\r?\n/);
  const end = lines[0]?.trimEnd() === FENCE ? lines.findIndex(isEnd) : -1;
  if (lines[0]?.trimEnd() === FENCE && end < 0) return fault('its head has no end');
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  const head = readHead(lines.slice(1, Math.max(1, end)));
  const heading = /^#\s+(.+)$/m.exec(body)?.[1]?.trim() ?? '';
  const found = head.todos.length > 0 ? head.todos.map(toTodo) : boxesIn(body);
  if (end < 0 && body !== '' && found.length === 0) {
    return fault('it has no head, and no items with a check box');
  }
  const todos = found.map((todo, index) => ({ ...todo, id: todo.id || `todo-${index + 1}` }));
  return checked({
    title: (textOf(head.fields, 'name', 'title') || heading || 'Plan').slice(0, maxIdChars),
    overview: textOf(head.fields, 'overview', 'description'),
    content: body,
    todos,
  });
}

const FENCE = '---';

function isEnd(line: string, index: number): boolean {
  return index > 0 && line.trimEnd() === FENCE;
}

function fault(problem: string): ReadPlan {
  return { ok: false, problem };
}

const FilePlan = z.object({
  title: z.string(),
  overview: z.string().max(maxTodoChars, 'its overview is too long'),
  content: z.string().max(maxPlanChars, 'its text is too long'),
  todos: z
    .array(
      Todo.extend({
        id: z.string().max(maxIdChars, 'the id of a todo is too long'),
        content: z
          .string()
          .min(1, 'a todo has no content')
          .max(maxTodoChars, 'the content of a todo is too long'),
      }),
    )
    .max(maxTodos, `it has more than ${maxTodos} todos`),
});

function checked(plan: PlanContent): ReadPlan {
  if (plan.content === '' && plan.todos.length === 0) return fault('it is empty');
  const parsed = FilePlan.safeParse(plan);
  if (!parsed.success) return fault(parsed.error.issues[0]?.message ?? 'it is no plan');
  const problem = problemOf(parsed.data.todos);
  return problem ? fault(`${problem.message} (todo ${problem.path[0]})`) : { ok: true, plan };
}

type HeadValues = Map<string, string[]>;

/** Keys at the margin are the plan's; `todos` has items, each with keys of its own. */
function readHead(lines: readonly string[]): {
  readonly fields: HeadValues;
  readonly todos: HeadValues[];
} {
  const fields: HeadValues = new Map();
  const todos: HeadValues[] = [];
  let isInTodos = false;
  let margin: number | null = null;
  let values: string[] | undefined;
  for (const line of lines) {
    // With `s` these never look back, however long the line is.
    const [, indent = '', dash = '', rest = ''] = /^(\s*)(-\s+)?(.*)$/s.exec(line) ?? [];
    if (rest === '' || rest.startsWith('#')) continue;
    const pair = /^([A-Za-z_]\w*):(?:\s+(.*))?$/s.exec(rest);
    if (indent === '' && dash === '' && pair) {
      isInTodos = pair[1] === 'todos';
      values = put(fields, pair);
    } else if (isInTodos && dash !== '' && indent.length <= (margin ?? indent.length)) {
      margin = indent.length;
      const todo: HeadValues = new Map();
      todos.push(todo);
      values = pair ? put(todo, pair) : put(todo, ['', 'content', rest]);
    } else if (isInTodos && todos.length > 0 && dash === '' && pair) {
      values = put(todos.at(-1) ?? fields, pair);
    } else values?.push(rest);
  }
  return { fields, todos };
}

function put(
  fields: HeadValues,
  [, key = '', value = '']: readonly (string | undefined)[],
): string[] {
  const values = value === '' || /^[>|][+-]?$/.test(value) ? [] : [value];
  fields.set(key, values);
  return values;
}

function textOf(fields: HeadValues, ...keys: readonly string[]): string {
  const key = keys.find((name) => fields.has(name)) ?? '';
  return unquoted((fields.get(key) ?? []).join(' ').trim());
}

/** `[a, "b"]` on one line, or an item on each. */
function listOf(fields: HeadValues, ...keys: readonly string[]): string[] {
  const key = keys.find((name) => fields.has(name)) ?? '';
  const values = (fields.get(key) ?? []).flatMap((value) => {
    const inner = /^\[(.*)\]$/.exec(value.trim())?.[1];
    return inner === undefined ? [value] : inner.split(',');
  });
  return values.map((value) => unquoted(value.trim())).filter((value) => value !== '');
}

function unquoted(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/.test(value)) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1); // YAML has escapes that JSON lacks. They stay as they are.
  }
}

function toTodo(fields: HeadValues): Todo {
  const status = textOf(fields, 'status').toLowerCase().replaceAll(/[\s-]/g, '_');
  return {
    id: textOf(fields, 'id'),
    content: textOf(fields, 'content', 'title'),
    status: TodoStatus.safeParse(DONE.has(status) ? 'completed' : status).data ?? 'pending',
    dependencies: listOf(fields, 'dependencies', 'depends_on'),
  };
}

const DONE: ReadonlySet<string> = new Set(['done', 'complete']);

function boxesIn(body: string): Todo[] {
  return [...body.matchAll(/^[ \t]*[-*]\s+\[([ xX])\]\s+(.+)$/gm)].map(([, box, content = '']) => ({
    id: '',
    content: content.trim(),
    dependencies: [],
    status: box === ' ' ? ('pending' as const) : ('completed' as const),
  }));
}
