/** A plan that a person can change, carry out and save. */
import { useState } from 'preact/hooks';
import { ClientError, isPlan, type PlanMetadata } from '../../client/index.ts';
import { useLive } from '../live.ts';
import { Markdown } from '../parts/markdown.tsx';
import { THREAD } from '../store/thread.ts';
import { words } from '../words/thread.ts';
import type { DocumentProps } from './document-props.ts';
import { TodoList } from './todos.tsx';

export function PlanPart({ document, response, thread, isOpen }: DocumentProps) {
  // Whether it is the newest plan, and whether an answer is in progress.
  useLive(thread.host.live, THREAD);
  const [isEditing, setEditing] = useState(false);
  const { title = words.plan, overview, todos = [] } = document.metadata as Partial<PlanMetadata>;
  const isNewest = newestPlan(thread.view?.responses ?? []) === document;
  const place = { responseId: response.id, version: versionOf(document.metadata) };
  const { client, run, onPlanBegun } = thread.host;
  const start = async (events: AsyncIterable<unknown>) => {
    for await (const _ of events) break; // The thread follows the answer.
  };
  if (isEditing) {
    return (
      <PlanForm
        document={document}
        response={response}
        thread={thread}
        isOpen={isOpen}
        close={() => setEditing(false)}
      />
    );
  }
  return (
    <section class="plan-card">
      <h3>{title}</h3>
      {overview && <p>{overview}</p>}
      <Markdown text={document.content ?? ''} isOpen={isOpen} />
      <TodoList todos={todos} />
      {isPlan(document) && isNewest && !thread.isBusy && (
        <p class="actions">
          <button
            type="button"
            class="main"
            onClick={() =>
              run(async () => {
                await start(client.executePlan(thread.id, document.id, place));
                onPlanBegun?.();
              })
            }
          >
            {words.executePlan}
          </button>
          <button type="button" onClick={() => setEditing(true)}>
            {words.edit}
          </button>
          <button
            type="button"
            onClick={() => run(() => start(client.savePlan(thread.id, document.id, place)))}
          >
            {words.savePlan}
          </button>
        </p>
      )}
    </section>
  );
}

function newestPlan(
  responses: readonly { readonly documents: readonly DocumentProps['document'][] }[],
) {
  return responses.flatMap(({ documents }) => documents).findLast(isPlan);
}

function versionOf(metadata: DocumentProps['document']['metadata']): number {
  return (metadata as Partial<PlanMetadata>).version ?? 1;
}

type Todos = PlanMetadata['todos'];

function PlanForm({ document, response, thread, close }: DocumentProps & { close(): void }) {
  const metadata = document.metadata as Partial<PlanMetadata>;
  const [todos, setTodos] = useState<Todos>(metadata.todos ?? []);
  const [problem, setProblem] = useState('');
  // The version that the form was opened with: a change of somebody else meanwhile is refused.
  const [version] = useState(versionOf(document.metadata));
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '');
    const edited = { title: text('title'), overview: text('overview'), content: text('content') };
    const change = { ...edited, todos, version, responseId: response.id };
    try {
      await thread.host.client.changePlan(thread.id, document.id, change);
      close();
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      setProblem(error.code === 'PLAN_CHANGED' ? words.planChanged : error.message);
      if (error.code === 'PLAN_CHANGED') close();
    }
  };
  const change = (index: number, todo: Todos[number] | undefined) =>
    setTodos(todos.flatMap((old, place) => (place === index ? (todo ? [todo] : []) : [old])));
  const move = (from: number, to: number) => {
    const moved = todos.toSpliced(from, 1);
    const [todo] = todos.slice(from, from + 1);
    if (todo) setTodos(moved.toSpliced(to, 0, todo));
  };
  return (
    <form class="plan-card" onSubmit={save}>
      <input name="title" aria-label={words.plan} defaultValue={metadata.title ?? ''} />
      <textarea
        name="overview"
        aria-label={words.overview}
        defaultValue={metadata.overview ?? ''}
      />
      <textarea name="content" aria-label={words.plan} defaultValue={document.content ?? ''} />
      <ol class="steps">
        {todos.map((todo, index) => (
          <li key={todo.id}>
            <textarea
              aria-label={words.todos}
              value={todo.content}
              onInput={(event) => change(index, { ...todo, content: event.currentTarget.value })}
            />
            <button
              type="button"
              aria-label={words.moveUp}
              disabled={index === 0}
              onClick={() => move(index, index - 1)}
            >
              ↑
            </button>
            <button
              type="button"
              aria-label={words.moveDown}
              disabled={index === todos.length - 1}
              onClick={() => move(index, index + 1)}
            >
              ↓
            </button>
            <button
              type="button"
              aria-label={words.remove}
              onClick={() => change(index, undefined)}
            >
              ×
            </button>
          </li>
        ))}
      </ol>
      <p class="actions">
        <button type="submit" class="main">
          {words.save}
        </button>
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
      </p>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}
