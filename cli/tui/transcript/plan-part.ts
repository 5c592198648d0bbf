/** A plan with its todos, and changes to them. */
import { type Component, Container } from '@earendil-works/pi-tui';
import { PlanMetadata } from '../../../shared/wire/documents.ts';
import { changedTodoLines, todoLine } from '../../render/plan.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import type { ScreenDocumentProps } from './document-props.ts';
import { GrowingMarkdown } from './growing-markdown.ts';
import { wrapped } from './lines.ts';

/** Its head and todos come last: they are known only at the end, when its beginning may have scrolled away. */
export function planPart({ document, look }: ScreenDocumentProps): Component {
  const part = new Container();
  part.addChild(new GrowingMarkdown(() => document.content ?? '', look));
  part.addChild(
    new Cached((width) => {
      const plan = PlanMetadata.safeParse(document.metadata).data;
      if (!plan) return [];
      const { title, overview, todos } = plan;
      return [
        '',
        look.paint('bold', `Plan: ${shortLine(title)}`),
        ...(overview === '' ? [] : wrapped(overview, width)),
        ...(todos.length === 0 ? [] : ['']),
        ...todos.flatMap((todo) => wrapped(todoLine(todo), width)),
      ];
    }),
  );
  return part;
}

/** Only the changed todos: the plan itself may have scrolled away. */
export function todosPart({ document, response, look }: ScreenDocumentProps): Component {
  return new Cached(() => changedTodoLines(document.metadata, response.documents, look.paint));
}
