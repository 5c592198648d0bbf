/** Shows plans, and the changes of their todos. */

import { EDGE_TOOL_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import {
  PlanMetadata,
  type Todo,
  type TodoStatus,
  TodoUpdateMetadata,
} from '../../shared/wire/documents.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { shortLine } from '../terminal/short-line.ts';
import type { Shown } from './shown.ts';
import { type Drawing, writeTextEvent } from './text.ts';

/** Writes the plan as it streams. Its title, overview and todos come last: they are known only at the end. */
export function writePlanEvent(drawing: Drawing): void {
  const { pen, shown, event, paint } = drawing;
  writeTextEvent(drawing);
  if (event.type !== 'document_end') return;
  const plan = PlanMetadata.safeParse(shown.metadata).data;
  if (!plan) return;
  const { title, overview, todos } = plan;
  pen.gap();
  pen.write(`${paint('bold', `Plan: ${inLine(title)}`)}\n`);
  if (overview !== '') pen.write(`${inLine(overview)}\n`);
  if (todos.length > 0) pen.gap();
  for (const todo of todos) pen.write(`- ${todoLine(todo)}\n`);
}

/** The plan without its text, as plain lines. */
export function planLines({ title, overview, todos }: PlanMetadata): string[] {
  const summary = overview === '' ? [] : [inLine(overview)];
  return [`Plan: ${inLine(title)}`, ...summary, ...todos.map((todo) => `- ${todoLine(todo)}`)];
}

/** A Markdown task, with the id that other todos refer to. */
export function todoLine({ id, content, status, dependencies }: Todo): string {
  const after = dependencies.length > 0 ? ` (after ${inLine(dependencies.join(', '))})` : '';
  return `${BOXES[status]} ${inLine(id)}: ${inLine(content)}${after}`;
}

/** Writes one line for each changed todo. Its content may be in an earlier document. */
export function writeTodosEvent({ pen, shown, event, place, paint }: Drawing): void {
  if (event.type !== 'document_end') return;
  const lines = changedTodoLines(shown.metadata, [...place.documents.values()], paint);
  if (lines.length > 0) pen.gap();
  for (const line of lines) pen.write(`${line}\n`);
}

type ShownMetadata = Shown['metadata'];

/** One line for each todo that a `todo_update` changes. `earlier` are documents that may say what it is about. */
export function changedTodoLines(
  metadata: ShownMetadata,
  earlier: readonly { readonly metadata: ShownMetadata }[],
  paint: Paint,
): string[] {
  const { todos = [] } = TodoUpdateMetadata.safeParse(metadata).data ?? {};
  const contents = new Map(earlier.flatMap(contentsOf));
  return todos.map(({ id, status, content = contents.get(id) ?? id }) => {
    const line = `${BOXES[status]} ${shortLine(content)}`;
    const style = STYLES[status];
    return style ? paint(style, line) : line;
  });
}

function contentsOf({ metadata }: { readonly metadata: ShownMetadata }): [string, string][] {
  const { todos = [] } = TodoUpdateMetadata.safeParse(metadata).data ?? {};
  return todos.flatMap(({ id, content }) => (content === undefined ? [] : [[id, content]]));
}

const BOXES: Readonly<Record<TodoStatus, string>> = {
  pending: '[ ]',
  in_progress: '[~]',
  completed: '[x]',
  cancelled: '[-]',
};

const STYLES: Readonly<Partial<Record<TodoStatus, Style>>> = {
  in_progress: 'bold',
  completed: 'dim',
  cancelled: 'dim',
};

function inLine(text: string): string {
  return printableLine(text, EDGE_TOOL_LIMITS.maxTodoChars);
}
