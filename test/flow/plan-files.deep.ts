import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { EventStream } from '../../client/index.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { answerOf, foldEvent, newResponse } from '../../shared/wire/fold.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { deviceOf } from './allowing.ts';
import type { House } from './house.ts';
import { oneHouse } from './one-house.ts';
import { carryOut, LAY_PLAN, todosIn } from './two-file-plan.ts';

const PATH = '.cursor/plans/two-files.plan.md';

const at = oneHouse();

beforeEach(() => at.answerWith(planning));

it('a plan is saved once its owner allows it, edited by hand, and executed from the file', async () => {
  const { house } = at;
  const laid = await house.client.chat({ messages: [user('Plan')], mode: 'plan' });
  const { conversationId } = laid;
  const documentId = laid.documents.find(({ type }) => type === 'plan')?.id ?? '';
  const before = at.requests().length;

  const refused = await read(house.client.savePlan(conversationId, documentId), house, 'reject');
  expect(refused.status).toBe('error');
  expect(existsSync(join(house.workspace, '.cursor'))).toBe(false);

  const saved = await read(house.client.savePlan(conversationId, documentId), house, 'once');
  expect(saved).toMatchObject({
    status: 'completed',
    documents: [
      { type: 'file_edit', metadata: { filePath: PATH, operation: 'create' } },
      { type: 'text', content: `The plan is saved in \`${PATH}\`.` },
    ],
  });
  expect(at.requests()).toHaveLength(before);
  const file = join(house.workspace, PATH);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('  - id: "b"\n    content: "Write b.txt"\n    status: pending\n');
  writeFileSync(file, text.replace('content: "Write a.txt"', 'content: "Write a.txt first"'));

  const executed = await read(house.client.executePlanFile({ path: PATH }), house, 'reject');
  expect(executed.conversationId).not.toBe(conversationId);
  expect(executed.documents.map(({ type }) => type)).toEqual([
    ...['tool_call', 'plan', 'file_edit', 'todo_update', 'file_edit', 'todo_update', 'text'],
  ]);
  expect(executed.documents[1]?.metadata['todos']).toMatchObject([
    { id: 'b', status: 'completed' },
    { id: 'a', status: 'completed', content: 'Write a.txt first' },
  ]);
  const first = at.requests()[before]?.messages ?? [];
  expect(first.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(String(first[1]?.content)).toMatch(
    /<plan>[\s\S]*Write a\.txt first[\s\S]*<executing_a_plan>/,
  );
  expect(readFileSync(join(house.workspace, 'b.txt'), 'utf8')).toBe('b\n');

  // The plan is one of the new conversation, and the save reaches the model as done.
  const finished = house.client.executePlan(executed.conversationId, 'doc_002');
  await expect(read(finished, house, 'reject')).rejects.toMatchObject({ code: 'PLAN_FINISHED' });
  await house.client.chat({ messages: [user('So?')], conversationId });
  expect(
    at
      .requests()
      .at(-1)
      ?.messages.slice(-3)
      .map(({ content }) => content),
  ).toEqual([
    expect.stringContaining(`Save the plan “Two files” in ${PATH}.`),
    `The plan is saved in \`${PATH}\`.`,
    expect.stringContaining('So?'),
  ]);
});

it('a file that holds no plan is named with the reason, and the conversation goes on', async () => {
  const { house } = at;
  const put = (name: string, text: string) => writeFileSync(join(house.workspace, name), text);
  put('circle.md', '---\ntodos:\n- id: a\n  content: A\n  dependencies: [a]\n---\nx');
  put('done.md', '# Done\n- [x] all');
  put('long.md', `# Long\n${'x\n'.repeat(3_000)}`);
  const codes: unknown[] = [];
  let conversationId: string | undefined;
  for (const path of ['circle.md', 'done.md', 'long.md', 'none.md', '.env', '../out.md']) {
    const request = { path, ...(conversationId && { conversationId }) };
    const response = await read(house.client.executePlanFile(request), house, 'reject');
    conversationId = response.conversationId;
    const { content, metadata } = response.documents.at(-1) ?? {};
    codes.push([response.status, metadata?.['errorCode'], content]);
  }
  const reason = (text: string) => expect.stringContaining(text);
  expect(codes).toEqual([
    ['error', 'PLAN_UNREADABLE', reason('The todo a waits for itself')],
    ['error', 'PLAN_FINISHED', reason('finished')],
    ['error', 'PLAN_UNREADABLE', reason('too long')],
    ['error', 'PLAN_UNREADABLE', reason('none.md')],
    ['error', 'PLAN_UNREADABLE', reason('secrets')],
    ['error', 'PLAN_UNREADABLE', reason('outside the workspace')],
  ]);
  expect(at.requests()).toHaveLength(0);
  const after = await house.client.chat({
    messages: [user('Hi')],
    ...(conversationId && { conversationId }),
  });
  expect(after.status).toBe('completed');
});

/** Lays the plan, works through it when it is executed, and otherwise says a word. */
function planning(request: ScriptedRequest): ScriptedAnswer {
  const said = request.messages.map(({ content }) => String(content)).join('\n');
  if (said.includes('<executing_a_plan>\n')) {
    const next = todosIn(request).find(({ status }) => status === 'pending');
    return next ? { calls: carryOut(next.id) } : { text: 'All done.' };
  }
  const isAsked = String(request.messages.at(-1)?.content).includes('Plan\n</user_query>');
  return isAsked ? { calls: [LAY_PLAN] } : { text: 'Ok.' };
}

function user(content: string) {
  return { role: 'user' as const, content };
}

/** The whole response. A question is answered with `decision`, signed by the enrolled device. */
async function read(
  events: EventStream,
  house: House,
  decision: 'once' | 'reject',
): Promise<ChatResponse> {
  let response: ChatResponse | undefined;
  for await (const { event } of events) {
    if (event.type === 'response_start') response = newResponse(event.response);
    if (!response) continue;
    foldEvent(response, event);
    if (event.type !== 'approval_request') continue;
    const { conversationId } = response;
    const question = { ...event, conversationId };
    if (decision === 'once') await house.client.allowCall(question, deviceOf(house));
    else await house.client.rejectCall(question);
  }
  if (!response) throw new Error('the stream had no response');
  return answerOf(response);
}
