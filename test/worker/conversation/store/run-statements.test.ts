import { env, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { Run, RunRequest } from '../../../../worker/conversation/store/rows.ts';
import { RunStore } from '../../../../worker/conversation/store/run-statements.ts';
import { MIGRATIONS } from '../../../../worker/conversation/store/schema.ts';
import { migrate } from '../../../../worker/storage/migrations.ts';
import type { Sql } from '../../../../worker/storage/row-meter.ts';

const FIELDS = { model: 'scripted', mode: 'agent', messages: [], createdMs: 0 } as const;
const REQUEST: RunRequest = { type: 'message', ...FIELDS };
const PLAN = { version: 1, title: 'A', overview: '', content: '', todos: [] };

it.each<[string, (store: RunStore, run: Run) => unknown]>([
  ['counting the rows of a run', (store, run) => store.countRows(run)],
  ['looking for keys', (store, { ordinal }) => store.readKeys(ordinal - 2)],
  ['placing what steers', (store, { ordinal }) => store.placeSteers(ordinal, 1)],
  ['finding the end of a run', (store, { ordinal }) => store.readEnd(ordinal)],
])('%s costs the same however many runs there were, and steers of them', async (_, work) => {
  expect(await rowsRead(500, work)).toBe(await rowsRead(5, work));
});

it('finds where the events of all runs up to one end, with the changes of their plans until the next starts', async () => {
  const ends = await withSteered(3, (store) => {
    for (const [ordinal, last] of [
      [1, 19],
      [2, 29],
      [3, 77],
    ] as const) {
      store.endRun(ordinal, { status: 'completed', last });
    }
    for (const [ordinal, last] of [
      [4, 60],
      [5, 80],
      [6, 70],
    ] as const) {
      insertWaiting(store, ordinal);
      store.endRun(ordinal, { status: 'cancelled', last });
    }
    return [0, 1, 2, 3, 4, 5, 6].map((ordinal) => store.readEnd(ordinal));
  });
  expect(ends).toEqual([0, 21, 31, ...[3, 4, 5, 6].map(() => Number.MAX_SAFE_INTEGER)]);
});

it('knows the keys of the newest messages, whether they began a run or steered one', async () => {
  const keys = await withSteered(5, (store) => store.readKeys(3));
  expect(keys.map(({ ordinal, key }) => [ordinal, key])).toEqual([
    [4, 'begins-4'],
    [5, 'begins-5'],
    [4, 'steers-4'],
    [5, 'steers-5'],
  ]);
});

it('places only the steers of the run that were not placed', async () => {
  const placed = await withSteered(3, (store) => {
    store.insertSteer({ number: 4, run: 3, turns: 7, content: 'placed before' });
    store.placeSteers(3, 9);
    return [...store.steersBack()].map(({ number, turns }) => [number, turns]);
  });
  expect(placed).toEqual([
    [4, 7],
    [3, 9],
    [2, null],
    [1, null],
  ]);
});

it.each<[RunRequest['type'], object]>([
  ['message', { budget: { maxTurns: 3 }, worktree: true }],
  ['plan', { plan: PLAN }],
  ['plan_file', { planFile: 'a.plan.md' }],
  ['plan_file', { planFile: 'a.plan.md', plan: PLAN }],
  ['subagent', { subagent: { type: 'explore', depth: 1, mayStart: 0 } }],
  ['save', { save: { path: 'a.plan.md', contents: '# A' } }],
  ['undo', { undo: { scope: 'last', preview: true } }],
  ['guest', { guest: { callId: 'call_1', path: 'a.ts' } }],
])(
  'reads what an earlier version stored of a run for a %s, which has no type',
  async (type, fields) => {
    await withSteered(0, (store, _, sql) => {
      const stored = { ...FIELDS, messages: [{ role: 'user', content: 'go' }], ...fields };
      for (const [index, request] of [stored, { ...stored, type }].entries()) {
        insertWaiting(store, index + 1);
        sql.exec('update runs set request = ? where first = ?', JSON.stringify(request), index + 1);
        const run = store.readRun(index + 1);
        expect(run).toMatchObject({ request: { ...stored, type } });
        expect(run?.isDamaged).toBeUndefined();
      }
    });
  },
);

/** Rows that this reads in a conversation whose every run was steered once. */
function rowsRead(runs: number, work: (store: RunStore, run: Run) => unknown): Promise<number> {
  return withSteered(runs, (store, watched) => {
    const run = store.readRun(runs);
    if (!run) throw new Error('there is no run');
    watched.length = 0;
    work(store, run);
    return watched.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  });
}

async function withSteered<T>(
  runs: number,
  work: (store: RunStore, watched: { readonly rowsRead: number }[], sql: Sql) => T,
): Promise<T> {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  return await runInDurableObject(stub, (_, { storage }) => {
    const watched: { readonly rowsRead: number }[] = [];
    const sql: Sql = {
      exec: (query, ...bindings) => {
        const cursor = storage.sql.exec(query, ...bindings);
        watched.push(cursor);
        return cursor as never;
      },
    };
    migrate(sql, MIGRATIONS);
    const store = new RunStore(sql);
    for (let ordinal = 1; ordinal <= runs; ordinal++) writeSteered(store, ordinal);
    return work(store, watched, sql);
  });
}

function insertWaiting(store: RunStore, ordinal: number): void {
  store.insertRun({
    ordinal,
    status: 'queued',
    first: ordinal,
    started: null,
    machine: null,
    firstTurn: null,
    request: REQUEST,
  });
}

function writeSteered(store: RunStore, ordinal: number): void {
  const idempotency = (word: string) => ({ key: `${word}-${ordinal}`, digest: 'd' });
  const first = ordinal * 10;
  store.insertRun({
    ordinal,
    status: 'completed',
    first,
    started: first + 1,
    machine: null,
    firstTurn: ordinal,
    request: { ...REQUEST, idempotency: idempotency('begins') },
  });
  store.turns.insertTurn({
    number: ordinal,
    run: ordinal,
    text: '',
    reasoning: null,
    calls: [],
    usage: null,
    lastSequence: 1,
    atMs: 0,
  });
  store.insertSteer({
    number: ordinal,
    run: ordinal,
    turns: null,
    content: 'more',
    idempotency: idempotency('steers'),
  });
}
