import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { parseResponseId, responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { ConversationView } from '../../../shared/wire/documents.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { SseReader, textOf } from '../follow/sse-reader.ts';
import { askStreamed, cancel, conversationObject, startAnswer } from './conversing.ts';
import { type Long, writeLong } from './long-conversation.ts';

const { shownExchanges, maxShownBytes } = CONVERSATION_LIMITS;

it('opening a conversation shows its newest exchanges, and the ones before them when they are asked for', async () => {
  const long = await writeLong(120);
  const newest = await open(long);
  expect(newest.earlier).toBe(responseIdOf(long.conversationId, 71));
  const middle = await open(long, `before=${newest.earlier}`);
  const oldest = await open(long, `before=${middle.earlier}&limit=100`);
  expect(oldest.earlier).toBe(null);
  const parts = [oldest, middle, newest];
  expect(parts.map(({ messages }) => messages.length)).toEqual([20, shownExchanges, 50]);
  expect(parts.flatMap(answersIn)).toEqual(numbered('Answer', 1, 120));
  expect(parts.flatMap(questionsIn)).toEqual(numbered('Question', 1, 120));
  const before = responseIdOf(long.conversationId, 1);
  expect(await open(long, `before=${before}`)).toMatchObject({
    title: 'Long',
    messages: [],
    responses: [],
    earlier: null,
  });
});

it('opening a conversation shows fewer where they are large, and at least one whatever its size', async () => {
  const size = maxShownBytes / 4.5;
  const long = await writeLong(9, (ordinal) => (ordinal === 5 ? 2 * maxShownBytes : size));
  const newest = await open(long);
  expect(ordinalsIn(newest)).toEqual([6, 7, 8, 9]);
  const huge = await open(long, `before=${newest.earlier}`);
  expect(ordinalsIn(huge)).toEqual([5]);
  expect(huge.responses[0]?.documents[0]?.content).toHaveLength(2 * maxShownBytes);
  expect(ordinalsIn(await open(long, `before=${huge.earlier}`))).toEqual([1, 2, 3, 4]);
});

it.each(['limit=0', 'limit=101', 'limit=x', 'limit=', 'before=', 'before=7', 'before=chat_x'])(
  'opening a conversation refuses ?%s',
  async (query) => {
    const long = await writeLong(1);
    const { account, conversationId } = long;
    const answer = await call(`conversations/${conversationId}?${query}`, { account });
    expect(await errorOf(answer)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  },
);

it('opening a conversation shows nothing before a response that is not there, or in another conversation', async () => {
  const { account, conversationId } = await writeLong(3);
  const other = await writeLong(3);
  for (const id of [responseIdOf(conversationId, 4), responseIdOf(other.conversationId, 2)]) {
    const answer = await call(`conversations/${conversationId}?before=${id}`, { account });
    expect(await errorOf(answer)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  }
});

it('opening a conversation always shows what has not ended, as it is now', async () => {
  const { model, conversationId, reader, reply } = await startAnswer();
  const waiting: string[] = [];
  for (const _ of [2, 3, 4]) {
    const queued = await askStreamed({ conversationId, device: 'phone' });
    waiting.push(queued.responseId);
    await queued.reader.leave();
  }
  const [edited = '', taken = '', last = ''] = waiting;
  const body = { content: 'Something else.' };
  await call(`chat/completions/${edited}`, { method: 'PATCH', body });
  await cancel(taken);
  const view = await open({ account: 'ada', conversationId }, 'limit=1');
  expect(view.messages).toMatchObject([
    { content: 'go' },
    { responseId: edited, content: 'Something else.', device: 'phone' },
    { responseId: taken },
    { responseId: last },
  ]);
  expect(view.responses).toMatchObject([{ status: 'streaming' }]);
  expect(view.earlier).toBe(null);

  const next = new SseReader(
    await call(`conversations/${conversationId}/events?after=${view.position}`),
  );
  reply.answer({ text: 'Done.' });
  expect(textOf(await next.untilType('done'))).toBe('Done.');
  await next.leave();
  await reader.toEnd();
  for (const _ of [2, 4]) (await model.next()).answer({ text: 'Later.' });
  await vi.waitFor(async () => {
    const ended = await open({ account: 'ada', conversationId }, 'limit=1');
    expect(ended.responses).toMatchObject([{ id: last, status: 'completed' }]);
    expect(ended.messages).toMatchObject([{ responseId: last, device: 'phone' }]);
    const before = await open({ account: 'ada', conversationId }, `before=${taken}&limit=1`);
    expect(before.messages).toMatchObject([{ responseId: edited, content: 'Something else.' }]);
    expect(before.responses).toMatchObject([{ id: edited, status: 'completed' }]);
  });
});

it('following a long conversation begins with one snapshot of what is shown of it, and goes on live', async () => {
  const long = await writeLong(60, () => 40_000);
  const { account, conversationId } = long;
  const view = await open(long);
  scriptModel(() => ({ text: 'And on.' }));
  for (const after of [0, view.position - 2 * maxShownBytes]) {
    const events = new SseReader(await call(eventsOf(conversationId, after), { account }));
    const [first] = await events.until((read) => read.length > 0);
    const conversation = await open(long);
    expect(first).toEqual({
      id: conversation.position,
      event: { type: 'snapshot', snapshot: { scope: 'conversation', conversation } },
    });
    expect(conversation.earlier).not.toBe(null);
    await chat('More', { account, conversationId });
    const then = (await events.untilType('done')).slice(1);
    expect(then[0]).toMatchObject({ event: { type: 'message', message: { content: 'More' } } });
    expect(textOf(then)).toBe('And on.');
    await events.leave();
  }
});

it('following a long conversation shows exactly what happened where that is little', async () => {
  const long = await writeLong(60, () => 40_000);
  const { account, conversationId } = long;
  const { position } = await open(long);
  const after = position - 50_000;
  const events = new SseReader(await call(eventsOf(conversationId, after), { account }));
  const read = await events.until((all) => all.at(-1)?.id === position);
  expect(read.map(({ event }) => event.type)).not.toContain('snapshot');
  const [rest] = read;
  expect(rest?.event.type === 'content_delta' && rest.id - rest.event.delta.length).toBe(after);
  await events.leave();
});

it('following a long conversation of one response is exact, however large that is', async () => {
  const { account, conversationId } = await writeLong(3, () => 3 * maxShownBytes);
  const path = `chat/completions/${responseIdOf(conversationId, 2)}/events`;
  const events = await new SseReader(await call(path, { account })).toEnd();
  expect(events.map(({ event }) => event.type)).not.toContain('snapshot');
  expect(textOf(events)).toHaveLength(3 * maxShownBytes);
});

it('what is read does not grow with the conversation, whatever is done with it', async () => {
  const acts: Readonly<Record<string, (long: Long, exchanges: number) => Promise<unknown>>> = {
    open: (long) => open(long),
    'open an earlier part': (long, exchanges) => open(long, beforeIn(long, exchanges)),
    'begin to follow': firstEvents,
    'follow its first response': followFirst,
    rename,
    answer: (long) => chat('More', { ...long }),
  };
  scriptModel(() => ({ text: 'And on.' }));
  const read: number[][] = [];
  for (const exchanges of [20, 400]) {
    const long = await writeLong(exchanges, () => 60_000);
    // It has outgrown the model: the first answer makes what the model gets shorter.
    await chat('More', { ...long });
    const counts: number[] = [];
    for (const act of Object.values(acts)) {
      await evictDurableObject(conversationObject(long.conversationId));
      counts.push(await countRead(long, () => act(long, exchanges)));
    }
    read.push(counts);
  }
  const [few = [], many = []] = read;
  expect(Math.min(...few)).toBeGreaterThan(0);
  expect(many.map((count, act) => count - (few[act] ?? 0))).toEqual(few.map(() => 0));
});

async function open({ account, conversationId }: Long, query = ''): Promise<ConversationView> {
  const answer = await call(`conversations/${conversationId}?${query}`, { account });
  expect(answer.status).toBe(200);
  return ConversationView.parse(await answer.json());
}

function answersIn({ responses }: ConversationView): (string | undefined)[] {
  return responses.map(({ documents: [document] }) => wordsOf(document?.content));
}

function questionsIn({ messages }: ConversationView): (string | undefined)[] {
  return messages.map(({ content }) => wordsOf(content));
}

function wordsOf(content: string | null | undefined): string | undefined {
  return content?.match(/^\w+ \d+/)?.[0];
}

function numbered(word: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${word} ${from + index}`);
}

function ordinalsIn({ messages, responses }: ConversationView): number[] {
  const ordinals = responses.map(({ id }) => parseResponseId(id).ordinal);
  expect(messages.map(({ responseId }) => parseResponseId(responseId).ordinal)).toEqual(ordinals);
  return ordinals;
}

function eventsOf(conversationId: string, after: number): string {
  return `conversations/${conversationId}/events?after=${after}`;
}

async function firstEvents({ account, conversationId }: Long): Promise<void> {
  const events = new SseReader(await call(eventsOf(conversationId, 0), { account }));
  await events.untilType('snapshot');
  await events.leave();
}

async function followFirst({ account, conversationId }: Long): Promise<void> {
  const path = `chat/completions/${responseIdOf(conversationId, 1)}/events`;
  await new SseReader(await call(path, { account })).toEnd();
}

function beforeIn({ conversationId }: Long, ordinal: number): string {
  return `before=${responseIdOf(conversationId, ordinal)}`;
}

async function rename({ account, conversationId }: Long): Promise<void> {
  const body = { title: 'Renamed' };
  await call(`conversations/${conversationId}`, { method: 'PATCH', body, account });
}

/** Rows that the conversation's object reads meanwhile. */
async function countRead({ conversationId }: Long, work: () => Promise<unknown>): Promise<number> {
  const cursors = new Map<SqlStorage, { readonly rowsRead: number }[]>();
  const stub = conversationObject(conversationId);
  const any = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  // From elsewhere, so that the conversation's object begins with the work.
  const watch = await runInDurableObject(any, (_, { storage }) => {
    const sql: SqlStorage = Object.getPrototypeOf(storage.sql);
    const exec = sql.exec;
    return vi.spyOn(sql, 'exec').mockImplementation(function (this: SqlStorage, ...parameters) {
      const cursor = Reflect.apply(exec, this, parameters);
      cursors.set(this, [...(cursors.get(this) ?? []), cursor]);
      return cursor;
    });
  });
  await work();
  watch.mockRestore();
  return await runInDurableObject(stub, (_, { storage }) =>
    (cursors.get(storage.sql) ?? []).reduce((sum, { rowsRead }) => sum + rowsRead, 0),
  );
}
