import { runDurableObjectAlarm } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { ask, call } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import {
  alarmOf,
  askHeld,
  conversationObject,
  readResponse,
  readView,
  startAnswer,
} from './conversing.ts';
import {
  COLUMNS,
  change,
  countRows,
  DAMAGES,
  DEEP,
  expectUsable,
  settle,
  textsOf,
  writeConversation,
} from './damage.ts';
import { runCommand, textFrame } from './held-model.ts';

/** What becomes of a run's other columns. */
const RUNS: readonly string[] = [
  "status = 'odd'",
  "status = 'running', last = null",
  "status = 'queued', started = null, last = null",
  'first = 9007199254740991',
  'started = 9007199254740991',
  'last = 9007199254740991',
  'first_turn = 9007199254740991',
  'first_turn = null',
  "first = 'x', started = 'y', last = 'z'",
];

describe.each(COLUMNS.map(([table, column]) => ({ table, column })))(
  'a conversation whose $table.$column is damaged',
  ({ table, column }) => {
    it.each(Object.entries(DAMAGES))('everywhere, as %s, can be used', async (_, damage) => {
      const written = await writeConversation();
      await change(written, `update ${table} set ${column} = ?`, damage);
      await expectUsable(written);
    });

    it('in one place shows the rest', async () => {
      for (const row of await rowsOf(table)) {
        const written = await writeConversation();
        await change(
          written,
          `update ${table} set ${column} = 'x' where rowid_of = (select rowid_of from ${table} limit 1 offset ${row})`,
        );
        await expectUsable(written, { keeps: 1 });
      }
    });

    it('and of which a row is gone shows the rest', async () => {
      for (const row of await rowsOf(table)) {
        const written = await writeConversation();
        await change(
          written,
          `delete from ${table} where rowid_of = (select rowid_of from ${table} limit 1 offset ${row})`,
        );
        await expectUsable(written, { keeps: 1 });
      }
    });
  },
);

it.each(RUNS)('a run with %s leaves its conversation usable', async (values) => {
  for (const ordinal of [1, 2, 3]) {
    const written = await writeConversation();
    await change(written, `update runs set ${values} where ordinal = ${ordinal}`);
    if (values.startsWith("status = 'queued'")) await settle(written);
    await expectUsable(written);
  }
});

it.each(["created = 'never'", "title = x'00ff'", "archived = 'x'", 'bridge = 7'])(
  'a conversation with %s can be used',
  async (values) => {
    const written = await writeConversation();
    await change(written, `update conversation set ${values}`);
    await expectUsable(written);
  },
);

it('a damaged answer says that a part is missing, and everything else is shown', async () => {
  const written = await writeConversation();
  const { conversationId, account } = written;
  await change(
    written,
    `update tape set body = 'x' where position > (select started from runs where ordinal = 2)
       and position < (select started from runs where ordinal = 3) - 2`,
  );
  const view = await readView(conversationId, { account });
  expect(view.messages.map(({ content }) => content)).toEqual(['First', 'Second', 'Third', 'more']);
  expect(view.responses.map(({ status }) => status)).toEqual(Array(3).fill('completed'));
  const [first, second, third] = view.responses.map(textsOf);
  expect(first).toContain('First answer.');
  expect(third).toContain('Third answer.');
  expect(second).toEqual([expect.stringContaining('A part of this answer is damaged')]);
  const page = await (
    await call(`conversations/${conversationId}/export?format=markdown`, { account })
  ).text();
  expect(page).toContain('`UNREADABLE`');
  const events = await new SseReader(
    await call(`chat/completions/${view.responses[1]?.id}/events`, { account }),
  ).toEnd();
  expect(JSON.stringify(events)).toContain('UNREADABLE');
});

it('a conversation that holds calls of before the bound is read with what nests too deeply left out', async () => {
  const written = await writeConversation();
  const { conversationId, account } = written;
  await change(
    written,
    `update tape set body = replace(body, '"plain":"plain"', ?) where body like '%tool_call_arguments%'`,
    `"plain":${DEEP}`,
  );
  await change(
    written,
    `update turns set body = replace(body, '"plain":"plain"', ?)`,
    `"plain":${DEEP}`,
  );
  const page = await (
    await call(`conversations/${conversationId}/export?format=markdown`, { account })
  ).text();
  expect(page).toContain('[left out: nested too deeply]');
  expect(page).toContain('First answer.');
  expect(page.length).toBeLessThan(20_000);
  expect(page).not.toContain('UNREADABLE');
  await expectUsable(written, { keeps: 3 });
});

it.each(COLUMNS.filter(([table]) => ['tape', 'runs', 'turns'].includes(table)))(
  'a current run on what is damaged ends with an error %s.%s, while the bridge is running',
  async (table, column) => {
    const bridge = await connectBridge();
    const { model, reader, responseId, conversationId } = await askHeld({
      bridgeId: bridge.bridgeId,
    });
    (await model.next()).answer({ text: 'I look.', calls: [runCommand('ls')] });
    await bridge.nextCall();
    await change({ conversationId }, `update ${table} set ${column} = 'x'`);
    const { count } = model;
    await runDurableObjectAlarm(conversationObject(conversationId));
    await reader.until((events) =>
      events.some(({ event }) => event.type === 'done' || event.type === 'snapshot'),
    );
    await expectEnded(responseId);
    expect(model.count).toBe(count);
    await expectNoAlarmLoop(conversationId);
    await bridge.leave();
  },
);

it('a current run on what is damaged ends with an error while the model is asked, and the next message is answered', async () => {
  const { model, reader, responseId, conversationId } = await askHeld();
  (await model.next()).send(textFrame('Half an ans'));
  await reader.untilText('Half an ans');
  const waiting = await ask('next', { conversationId, stream: true });
  await change({ conversationId }, "update runs set request = 'x' where ordinal = 1");
  await runDurableObjectAlarm(conversationObject(conversationId));
  (await model.next()).answer({ text: 'Here.' });
  await new SseReader(waiting).toEnd();
  await expectEnded(responseId);
  const view = await readView(conversationId);
  expect(view.responses.map(({ status }) => status)).toEqual(['error', 'completed']);
});

it('a run whose message waits ends with an error, too, on what is damaged', async () => {
  const { model, reader, conversationId, reply: held } = await startAnswer();
  held.send(textFrame('Half'));
  await reader.untilText('Half');
  const waiting = await ask('next', { conversationId, stream: true });
  await change({ conversationId }, "update runs set request = 'x' where ordinal = 2");
  await runDurableObjectAlarm(conversationObject(conversationId));
  (await model.next()).answer({ text: 'Whole.' });
  await new SseReader(waiting).toEnd();
  const view = await readView(conversationId);
  expect(view.responses.map(({ status }) => status)).toEqual(['completed', 'error']);
  expect(view.messages.map(({ content }) => content)).toEqual(['go', 'next']);
  expect(model.count).toBe(2);
});

async function expectEnded(responseId: string): Promise<void> {
  const { status, documents } = await readResponse(responseId);
  expect(status).toBe('error');
  expect(documents.filter(({ metadata }) => metadata['errorCode'] === 'UNREADABLE')).toHaveLength(
    1,
  );
}

async function expectNoAlarmLoop(conversationId: string): Promise<void> {
  const stub = conversationObject(conversationId);
  for (let fired = 0; fired < 3; fired++) await runDurableObjectAlarm(stub);
  expect(await alarmOf(conversationId)).toBe(null);
}

/** The rows to be damaged, at least one. */
async function rowsOf(table: string): Promise<number[]> {
  const count = await countRows(await writeConversation(), table);
  expect(count).toBeGreaterThan(0);
  return Array.from({ length: count }, (_, row) => row);
}
