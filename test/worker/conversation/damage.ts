/** Conversations whose rows are damaged, and all that can be done with them nevertheless. */
import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test';
import { expect, vi } from 'vitest';
import { ConversationExport, type ConversationList } from '../../../shared/api/conversations.ts';
import { ChatResponse } from '../../../shared/wire/documents.ts';
import { call, chat, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { conversationObject, readView } from './conversing.ts';

/** JSON that nests deeper than anything may. */
export const DEEP = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

/** What becomes of a row's JSON. */
export const DAMAGES: Readonly<Record<string, string>> = {
  'no JSON': '{"type": "mess',
  'no text at all': '',
  null: 'null',
  'an empty object': '{}',
  'an empty list': '[]',
  'a list of nothing': '[null, 7, "x", {}, [], {"type": "content_delta"}, {"type": "done"}]',
  'JSON of another kind':
    '{"type": 1, "messages": {}, "text": [], "calls": {"length": 3}, "status": "odd"}',
  'JSON that nests too deeply': DEEP,
  'a list of what nests too deeply': `[${DEEP}]`,
};

/** Tables, and the column that holds JSON. */
export const COLUMNS: readonly (readonly [table: string, column: string])[] = [
  ['tape', 'body'],
  ['runs', 'request'],
  ['runs', 'machine'],
  ['turns', 'body'],
  ['results', 'body'],
  ['steers', 'body'],
  ['windows', 'body'],
];

/** A conversation, and whose it is. */
export interface Written {
  readonly conversationId: string;
  readonly account: string;
}

/** Three exchanges: words, calls that succeed and fail, a message that steered, a window. */
export async function writeConversation(): Promise<Written> {
  const account = `damaged-${crypto.randomUUID()}`;
  scriptModel((request) => {
    const asked = JSON.stringify(request.messages.filter(({ role }) => role === 'user').at(-1));
    const isFirst = request.messages.at(-1)?.role === 'user';
    const name = ['First', 'Second', 'Third'].find((word) => asked.includes(word)) ?? 'Other';
    const calls = [{ name: 'mystery', arguments: { plain: 'plain' } }];
    return isFirst && name !== 'Second' ? { calls } : { text: `${name} answer.` };
  });
  const { conversationId } = await chat('First', { account });
  await chat('Second', { account, conversationId });
  await chat('Third', { account, conversationId });
  await runInDurableObject(conversationObject(conversationId), (_, { storage: { sql } }) => {
    const scale = { since: 0, tokensPerChar: 0.3, refused: null };
    const window = {
      from: { run: 1, turns: 0 },
      prunedThrough: 0,
      digest: null,
      usage: null,
      scale,
    };
    sql.exec('insert into windows (number, run, body) values (1, 3, ?)', JSON.stringify(window));
    const { position } = sql
      .exec<{ position: number }>('select max(position) as position from tape')
      .one();
    const responseId = `chat_${conversationId.slice('conv_'.length, -4)}0003`;
    const message = {
      responseId,
      content: 'more',
      created: new Date().toISOString(),
      steers: true,
    };
    sql.exec(
      'insert into steers (number, run, turns, body) values (1, 3, 1, ?)',
      '{"content":"more"}',
    );
    // In front of the row that ends the response: it stands alone there.
    sql.exec(
      'insert into tape (position, body) values (?, ?)',
      position - 1,
      JSON.stringify([{ type: 'message', message }]),
    );
  });
  return { account, conversationId };
}

/** Changes rows behind the object's back, which finds them so when it wakes. */
export async function change(
  { conversationId }: Pick<Written, 'conversationId'>,
  query: string,
  ...values: string[]
): Promise<void> {
  const stub = conversationObject(conversationId);
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    const [, table = ''] = /^(?:update|delete from) (\w+)/.exec(query) ?? [];
    // One without rowids has a key of two.
    const key = table === 'results' ? "(turn || ' ' || call)" : 'rowid';
    sql.exec(query.replaceAll('rowid_of', key), ...values);
  });
  await abortAllDurableObjects();
}

export async function countRows({ conversationId }: Written, table: string): Promise<number> {
  return await runInDurableObject(
    conversationObject(conversationId),
    (_, { storage: { sql } }) =>
      sql.exec<{ rows: number }>(`select count(*) as rows from ${table}`).one().rows,
  );
}

/** Looking at a conversation wakes what the damage has left running. */
export async function settle({ account, conversationId }: Written): Promise<void> {
  await vi.waitFor(
    async () => {
      const { responses } = await readView(conversationId, { account });
      expect(responses.map(({ status }) => status)).not.toContain('streaming');
    },
    { interval: 50 },
  );
}

/** All that can be done with a conversation; `keeps` answers at least can still be read. */
export async function expectUsable({ account, conversationId }: Written, { keeps = 0 } = {}) {
  const path = `conversations/${conversationId}`;
  const list = await (await call('conversations', { account })).json<ConversationList>();
  expect(list.items.map(({ id }) => id)).toEqual([conversationId]);
  const view = await readView(conversationId, { account });
  const words = view.responses.flatMap(textsOf).filter((text) => / answer\.$/.test(text));
  expect(words.length).toBeGreaterThanOrEqual(keeps);
  const exported = await call(`${path}/export`, { account });
  const { conversation } = ConversationExport.parse(await exported.json());
  expect(conversation.responses.slice(-view.responses.length)).toEqual(view.responses);
  const page = await call(`${path}/export?format=markdown`, { account });
  expect([page.status, (await page.text()).includes('## You')]).toEqual([200, true]);
  for (const { id } of view.responses) {
    const response = await call(`chat/completions/${id}`, { account });
    if (response.status !== 404) ChatResponse.parse(await response.json());
    const events = await call(`chat/completions/${id}/events`, { account });
    expect([200, 204, 404]).toContain(events.status);
    if (events.status === 200) await new SseReader(events).toEnd();
  }
  const followed = new SseReader(await call(`${path}/events`, { account }));
  await followed.readOnce();
  await followed.leave();
  const last = view.responses.at(-1)?.id;
  const fork = await call(`${path}/forks`, { account, body: { responseId: last } });
  if (fork.status !== 404) {
    const { conversationId: copy } = await fork.json<{ conversationId: string }>();
    const copied = await readView(copy, { account });
    expect(copied.responses).toHaveLength(view.responses.length);
    expect((await call(`conversations/${copy}`, { account, method: 'DELETE' })).status).toBe(204);
  }
  const renamed = await call(path, { account, method: 'PATCH', body: { title: 'New' } });
  expect(renamed.status).toBe(200);
  const next = await chat('again', { account, conversationId });
  expect(next).toMatchObject({ status: 'completed' });
  expect((await call(path, { account, method: 'DELETE' })).status).toBe(204);
  expect((await call(path, { account })).status).toBe(404);
}

/** The words of an answer, and of its errors. */
export function textsOf({ documents }: ChatResponse): string[] {
  return documents
    .filter(({ type }) => type === 'text' || type === 'error')
    .map(({ content }) => content ?? '');
}
