import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { MAX_RESPONSES } from '../../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../../shared/limits.ts';
import { BUILT_IN } from '../../../../shared/tools/toolbox.ts';
import { RunLog } from '../../../../worker/conversation/log/run-log.ts';
import { readHistory } from '../../../../worker/conversation/memory/history.ts';
import { LeftOut } from '../../../../worker/conversation/memory/window/left-out.ts';
import { fullLength, prunedTexts } from '../../../../worker/conversation/memory/window/results.ts';
import type { Run, RunRequest } from '../../../../worker/conversation/store/rows.ts';
import type { RunStore } from '../../../../worker/conversation/store/run-statements.ts';
import { MIGRATIONS } from '../../../../worker/conversation/store/schema.ts';
import { ConversationStore } from '../../../../worker/conversation/store/statements.ts';
import { migrate } from '../../../../worker/storage/migrations.ts';
import { olderTables } from '../../older-tables.ts';

const WHOLE = { toolbox: BUILT_IN, leftOut: new LeftOut([]) };

it('finds every run as it ended, and reads only what has not ended', async () => {
  await onLog((log, reopen) => {
    answer(log, 1, 2);
    waiting(log, 2);
    log.end(found(log, 2), { status: 'cancelled', last: 20 });
    answer(log, 3, 0);
    answer(log, 4, 3);
    const again = reopen();
    expect(again.current).toBeUndefined();
    expect(again.newest).toBe(4);
    expect([...again.back()].map(({ ordinal, status, last }) => [ordinal, status, last])).toEqual([
      [4, 'completed', 40],
      [3, 'error', 30],
      [2, 'cancelled', 20],
      [1, 'completed', 10],
    ]);
    expect(again.find(5)).toBeUndefined();
  });
});

it('goes on where an instance left it, with what waits behind', async () => {
  await onLog((log, reopen) => {
    answer(log, 1, 2);
    begin(log, 2);
    log.addTurn(found(log, 2), turnWith(['a', 'b']));
    const [first] = log.pending;
    if (first) log.addResult(first, { status: 'success', data: 'A' });
    log.addSteer(found(log, 2), { content: 'and this' });
    waiting(log, 3);
    waiting(log, 4);
    log.end(found(log, 3), { status: 'cancelled', last: 30 });
    const again = reopen();
    expect(again.open.map(({ ordinal }) => ordinal)).toEqual([2, 4]);
    expect(again.phase).toMatchObject({ type: 'awaiting_tools', pending: [{ index: 1 }] });
    expect(again.hasWaitingSteer).toBe(true);
    expect(again.turns).toHaveLength(1);
    again.addTurn(found(again, 2), turnWith([], { status: 'completed', last: 21 }));
    expect(again.phase).toMatchObject({ type: 'queued', run: { ordinal: 4 } });
  });
});

it('counts what went wrong anew after a turn, and takeovers after an attempt', async () => {
  await onLog((log, reopen) => {
    const troubles = () =>
      [log, reopen()].map(({ current }) => [current?.takeovers, current?.failures]);
    begin(log, 1);
    log.takeOver(found(log, 1));
    log.countFailure(found(log, 1), 2, 50);
    expect(troubles()).toEqual([
      [0, 2],
      [0, 2],
    ]);
    log.takeOver(found(log, 1));
    log.addTurn(found(log, 1), turnWith(['a']));
    expect(troubles()).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});

it('keeps a request that has changed when the run as it was before gets a turn', async () => {
  await onLog((log) => {
    begin(log, 1);
    log.takeOver(found(log, 1));
    const before = found(log, 1);
    const changed = { ...before.request, model: 'another' };
    log.changeRequest(before, changed);
    log.addTurn(before, turnWith(['a']));
    expect(log.current).toMatchObject({ request: changed, takeovers: 0 });
  });
});

it('knows again what steers the current run, in order, and nothing of the runs before', async () => {
  await onLog((log, reopen) => {
    begin(log, 1);
    log.addSteer(found(log, 1), { content: 'unheard' });
    log.end(found(log, 1), { status: 'cancelled', last: 10 });
    begin(log, 2);
    expect(reopen().hasWaitingSteer).toBe(false);
    for (const content of ['one', 'two']) log.addSteer(found(log, 2), { content });
    for (const { steers } of [log, reopen()]) {
      expect(steers.map(({ content }) => content)).toEqual(['one', 'two']);
    }
  });
});

it('knows when the time of calls is over, also behind a crash', async () => {
  await onLog((log, reopen) => {
    begin(log, 1);
    const turn = log.addTurn(found(log, 1), turnWith(['a']));
    expect(log.deadlineOf(found(log, 1), turn)).toBe(RUN_LIMITS.callDeadlineMs);
    log.setDeadline(2 * RUN_LIMITS.callDeadlineMs);
    for (const one of [log, reopen()]) {
      expect(one.deadlineOf(found(one, 1), turn)).toBe(2 * RUN_LIMITS.callDeadlineMs);
    }
  });
});

it('waits for no call of a run that has finished', async () => {
  await onLog((log) => {
    begin(log, 1);
    log.addTurn(found(log, 1), turnWith(['a']));
    waiting(log, 2);
    log.end(found(log, 1), { status: 'cancelled', last: 10 });
    expect(log.pending).toEqual([]);
  });
});

it('gives the model what was said, each with its own results', async () => {
  await onLog((log, _, runs) => {
    answer(log, 1, 1);
    begin(log, 2);
    log.addTurn(found(log, 2), turnWith(['a', 'b']));
    for (const pending of [...log.pending].reverse()) {
      log.addResult(pending, { status: 'success', data: pending.call.name, metadata: { big: 1 } });
    }
    const { window, sent } = readHistory(runs, 2, WHOLE);
    expect(window).toBeNull();
    expect(sent.map(({ run, turns }) => [run.ordinal, turns.length])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(sent[1]?.turns[0]?.results).toEqual([
      { status: 'success', data: 'a' },
      { status: 'success', data: 'b' },
    ]);
  });
});

it('keeps the lists of todos beside what is sent, for a window that begins behind them', async () => {
  await onLog((log, _, runs) => {
    begin(log, 1);
    log.addTurn(found(log, 1), turnWith(['todo_write']));
    const metadata = { list: [{ id: 'a', content: 'Do it', status: 'pending' }] };
    for (const pending of log.pending) {
      log.addResult(pending, { status: 'success', data: '1 todo', metadata });
    }
    const { sent } = readHistory(runs, 1, WHOLE);
    expect(sent[0]?.turns[0]?.results).toEqual([{ status: 'success', data: '1 todo', metadata }]);
  });
});

it('reads only the head and the tail of results that are sent as notes', async () => {
  await onLog((log, _, runs) => {
    const long = `head ${'語'.repeat(50_000)} tail`;
    begin(log, 1);
    for (const name of ['a', 'b']) {
      log.addTurn(found(log, 1), turnWith([name]));
      const [pending] = log.pending;
      if (pending) log.addResult(pending, { status: 'success', data: long });
    }
    log.addWindow(found(log, 1), {
      from: { run: 1, turns: 0 },
      prunedThrough: 1,
      usage: null,
      digest: null,
      scale: { since: 2, tokensPerChar: 0.25, refused: null },
    });
    const [pruned, whole] = readHistory(runs, 1, WHOLE).sent[0]?.turns ?? [];
    expect(whole?.results).toEqual([{ status: 'success', data: long }]);
    const [result] = pruned?.results ?? [];
    expect(result).toMatchObject({ status: 'success', wholeChars: long.length });
    expect(result?.data).toMatch(/^head .+\n.+ tail$/);
    expect(result?.data.length).toBeLessThan(3_000);
    if (pruned) expect(prunedTexts(pruned, BUILT_IN)[0]).toContain(`${long.length} characters`);
    if (pruned && whole) expect(fullLength(pruned, 9_000)).toBe(fullLength(whole, 9_000));
  });
});

it('gives the model no more than its window', async () => {
  await onLog((log, _, runs) => {
    for (let ordinal = 1; ordinal <= 5; ordinal++) answer(log, ordinal, 2);
    begin(log, 6);
    log.addWindow(found(log, 6), {
      from: { run: 4, turns: 1 },
      prunedThrough: 7,
      usage: null,
      scale: { since: 7, tokensPerChar: 0.25, refused: null },
      digest: { summary: 'Much.', words: ['go'], plan: null, todos: [] },
    });
    const { window, sent } = readHistory(runs, 6, WHOLE);
    expect(window).toMatchObject({ number: 1, run: 6, digest: { summary: 'Much.' } });
    expect(sent.map(({ run }) => run.ordinal)).toEqual([4, 5, 6]);
    expect(sent[0]?.turns.map(({ turn }) => turn.number)).toEqual([8]);
  });
});

it('knows the newest keys again, those of messages that steered too', async () => {
  await onLog((log, reopen) => {
    begin(log, 1, 'key-1');
    log.addSteer(found(log, 1), { content: 'x', idempotency: { key: 'key-2', digest: 'd' } });
    waiting(log, 2, 'key-3');
    const again = reopen();
    expect(again.findByKey('key-1')).toMatchObject({ run: { ordinal: 1 }, digest: 'd' });
    expect(again.findByKey('key-2')).toMatchObject({ run: { ordinal: 1 } });
    expect(again.findByKey('key-3')).toMatchObject({ run: { ordinal: 2 } });
    expect(again.findByKey('key-4')).toBeUndefined();
    waiting(again, 3, 'key-4');
    expect(again.findByKey('key-4')).toMatchObject({ run: { ordinal: 3 } });
  });
});

it('takes over what a version stored that did not note where turns begin', async () => {
  await onLog(
    (log) => {
      answer(log, 1, 3);
      answer(log, 2, 0);
      answer(log, 3, 2);
    },
    await olderTables(MIGRATIONS, 3),
    (log, runs) => {
      expect([...log.back()].map(({ last }) => last)).toEqual([30, 20, 10]);
      expect(readHistory(runs, 3, WHOLE).sent.map(({ turns }) => turns.length)).toEqual([3, 0, 2]);
    },
  );
});

it('takes over the longest conversation of such a version at once', async () => {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    migrate(sql, MIGRATIONS.slice(0, 3));
    const series = 'with recursive series (n) as (select 1 union all select n + 1 from series';
    sql.exec(
      `insert into runs (ordinal, status, first, started, last, request)
       ${series} where n < ?) select n, 'completed', n, n, n, '{}' from series`,
      MAX_RESPONSES,
    );
    // Every third run ended without a turn, the others have three each.
    sql.exec(
      `insert into turns (number, run, body)
       ${series} where n < ?) select n, 1 + (n - 1) / 6 * 3 + (n - 1) / 3 % 2, '{}' from series`,
      2 * MAX_RESPONSES,
    );
    migrate(sql, MIGRATIONS);
    const firstOf = (ordinal: number) =>
      new ConversationStore(sql).runs.readRun(ordinal)?.firstTurn;
    expect([1, 2, 3, 4, 5, 6, 7].map(firstOf)).toEqual([1, 4, 7, 7, 10, 13, 13]);
    expect(firstOf(MAX_RESPONSES)).toBe(2 * MAX_RESPONSES + 1);
  });
});

type Reopen = () => RunLog;

/** With the log of a new conversation; what follows sees it as a next instance would. */
async function onLog(
  work: (log: RunLog, reopen: Reopen, runs: RunStore) => void,
  between?: (sql: SqlStorage) => void,
  then?: (log: RunLog, runs: RunStore) => void,
): Promise<void> {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    const store = new ConversationStore(sql);
    store.prepare();
    const reopen = () => new RunLog(new ConversationStore(sql).runs, true);
    work(new RunLog(store.runs, true), reopen, store.runs);
    between?.(sql);
  });
  if (!then) return;
  await evictDurableObject(stub);
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    const store = new ConversationStore(sql);
    store.prepare();
    then(new RunLog(store.runs, true), store.runs);
  });
}

function found(log: RunLog, ordinal: number): Run {
  const run = log.find(ordinal);
  if (!run) throw new Error(`there is no run ${ordinal}`);
  return run;
}

function begin(log: RunLog, ordinal: number, key?: string): void {
  const first = ordinal * 10 - 9;
  const request = requestOf(key);
  log.submit({ ordinal, status: 'running', first, started: first + 1, request, machine: null });
}

function waiting(log: RunLog, ordinal: number, key?: string): void {
  const request = requestOf(key);
  const first = ordinal * 10 - 9;
  log.submit({ ordinal, status: 'queued', first, started: null, request, machine: null });
}

/** A run from its start to its end, which stands with its last turn where it has one. */
function answer(log: RunLog, ordinal: number, turns: number): void {
  begin(log, ordinal);
  const last = ordinal * 10;
  for (let turn = 1; turn <= turns; turn++) {
    const end = turn === turns ? ({ status: 'completed', last } as const) : undefined;
    log.addTurn(found(log, ordinal), turnWith([], end));
  }
  if (turns === 0) log.end(found(log, ordinal), { status: 'error', last });
}

function requestOf(key?: string): RunRequest {
  return {
    ...({ type: 'message', model: 'demo', mode: 'agent' } as const),
    messages: [{ role: 'user', content: 'go' }],
    createdMs: 0,
    ...(key !== undefined && { idempotency: { key, digest: 'd' } }),
  };
}

function turnWith(names: readonly string[], end?: { status: 'completed'; last: number }) {
  const calls = names.map((name) => ({
    callId: `call_${name}`,
    upstreamId: name,
    documentId: 'doc_001',
    name,
    rawArguments: '{}',
    arguments: {},
  }));
  const said = { text: 'x', reasoning: null, usage: null, lastSequence: 1, atMs: 0 };
  return { ...said, calls, ...(end && { end }) };
}
