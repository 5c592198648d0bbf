import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ClientError, createClient, type EventStream } from '../../client/index.ts';
import { newDeferred } from '../../machine/deferred.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { answerOf, foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { startHouse, workerdOf } from './house.ts';
import { carryOut, LAY_PLAN, todosIn } from './two-file-plan.ts';

it('a plan is laid, changed on a second device, executed, killed in the middle, and resumed', async () => {
  let failing: 'hangs' | 'refuses' | null = 'hangs';
  const hanging = newDeferred<void>();
  const model = await startScriptedModel((request) => {
    const asked = request.messages.filter(({ role }) => role === 'user');
    const text = asked.map(({ content }) => String(content)).join('\n');
    if (!text.includes('<executing_a_plan>')) {
      return request.messages.at(-1)?.role === 'tool' ? { text: 'Laid.' } : { calls: [LAY_PLAN] };
    }
    const todos = todosIn(request);
    const next = todos.find(({ status }) => status === 'pending');
    if (!next) return { text: 'All done.' };
    const isBegun = todos.some(({ status }) => status === 'completed');
    if (!isBegun || failing === null) return { calls: carryOut(next.id) };
    if (failing === 'refuses') return { status: 401, body: '{}' };
    failing = 'refuses';
    hanging.resolve();
    return { frames: [], hangs: true };
  });
  await using house = await startHouse({ modelUrl: model.baseUrl });
  const asked = { messages: [{ role: 'user' as const, content: 'Plan' }], mode: 'plan' as const };
  const laid = await house.client.chat(asked);
  const { conversationId } = laid;
  const plan = laid.documents.find(({ type }) => type === 'plan');
  const { id: documentId = '' } = plan ?? {};

  const phone = createClient({ url: house.ready.url, token: house.ready.token });
  const edit = {
    version: 1,
    title: 'Three files',
    overview: 'Writes three.',
    content: 'In order.',
    todos: [
      { id: 'c', content: 'Write c.txt', dependencies: ['b'] },
      { id: 'b', content: 'Write b.txt', dependencies: ['a'] },
      { id: 'a', content: 'Write a.txt' },
    ],
  };
  const changed = await phone.changePlan(conversationId, documentId, edit);
  expect(changed.version).toBe(2);
  const stale = house.client.changePlan(conversationId, documentId, { ...edit, title: 'Mine' });
  await expect(stale).rejects.toBeInstanceOf(ClientError);

  const killed = await read(
    house.client.executePlan(conversationId, documentId, { version: 2 }),
    // Not sooner: a request after the restart would be the one that hangs.
    () => void hanging.promise.then(() => process.kill(workerdOf(house), 'SIGKILL')),
  );
  expect(killed.status).toBe('error');
  expect(statusesOf(killed)).toEqual([
    { a: 'pending', b: 'pending', c: 'pending' },
    { a: 'completed' },
  ]);

  failing = null;
  const resumed = await read(house.client.executePlan(conversationId, documentId));
  expect(resumed.status).toBe('completed');
  expect(statusesOf(resumed)).toEqual([
    { a: 'completed', b: 'pending', c: 'pending' },
    { b: 'completed' },
    { c: 'completed' },
  ]);
  for (const name of ['a', 'b', 'c']) {
    expect(readFileSync(join(house.workspace, `${name}.txt`), 'utf8')).toBe(`${name}\n`);
  }
  const view = await phone.getConversation(conversationId);
  expect(view.responses[0]?.documents.find(({ type }) => type === 'plan')?.metadata).toMatchObject({
    title: 'Three files',
    todos: [
      { id: 'c', status: 'completed' },
      { id: 'b', status: 'completed' },
      { id: 'a', status: 'completed' },
    ],
  });
  await model.close();
});

/** The whole response. `onFirstDone` is called once the first todo is shown as completed. */
async function read(events: EventStream, onFirstDone?: () => void): Promise<ChatResponse> {
  let response: ChatResponse | undefined;
  let isDone = false;
  for await (const { event } of events) {
    if (event.type === 'response_start') response = newResponse(event.response);
    if (response) foldEvent(response, event);
    if (isDone || !response || statusesOf(response).length < 2) continue;
    isDone = true;
    onFirstDone?.();
  }
  if (!response) throw new Error('the stream had no response');
  return answerOf(response);
}

/** The todos of each `todo_update`, in order. */
function statusesOf({ documents }: ChatResponse): Record<string, string>[] {
  return documents.flatMap(({ type, metadata }) => {
    if (type !== 'todo_update' || metadata['todos'] === undefined) return [];
    const todos = metadata['todos'] as { id: string; status: string }[];
    return [Object.fromEntries(todos.map(({ id, status }) => [id, status]))];
  });
}
