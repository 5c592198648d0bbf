import { env, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { MessageContent } from '../../../../shared/api/requests.ts';
import { BUILT_IN } from '../../../../shared/tools/toolbox.ts';
import type { RuleFile } from '../../../../shared/wire/rules.ts';
import { RunLog } from '../../../../worker/conversation/log/run-log.ts';
import { HeldMessages } from '../../../../worker/conversation/memory/held-messages.ts';
import { readHistory } from '../../../../worker/conversation/memory/history.ts';
import { LeftOut } from '../../../../worker/conversation/memory/window/left-out.ts';
import { WINDOW_LIMITS } from '../../../../worker/conversation/memory/window/limits.ts';
import {
  messagesIn,
  weighHistory,
} from '../../../../worker/conversation/memory/window/messages.ts';
import type { ModelSize } from '../../../../worker/conversation/memory/window/size.ts';
import type { Machine, NewTurn, Run } from '../../../../worker/conversation/store/rows.ts';
import { RunStore } from '../../../../worker/conversation/store/run-statements.ts';
import { ConversationStore } from '../../../../worker/conversation/store/statements.ts';
import type { Sql } from '../../../../worker/storage/row-meter.ts';
import { sizeOf } from '../memory/window/histories.ts';

const WHOLE = { toolbox: BUILT_IN, leftOut: new LeftOut([]) };

const IMAGE = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } };
const LONG = 'x'.repeat(30_000);

it('what is held of what the model saw says the same as everything read anew, whatever happens between two requests', async () => {
  await onLog(({ log, store }) => {
    const held = new HeldMessages(store);
    const size = sizeOf();
    const asks = (other: Partial<ModelSize> = {}) =>
      expectSame(held, store, current(log), { ...size, ...other });

    begin(log, 1, [{ type: 'text', text: 'Look.' }, IMAGE]);
    asks();
    call(log, { done: 2 });
    asks();
    log.addSteer(current(log), { content: 'And this.' });
    asks();
    log.placeSteers(current(log));
    asks();
    call(log, { done: 1, cancelled: 1 });
    log.addSteer(current(log), { content: 'Unheard.' });
    log.end(current(log), { status: 'cancelled', last: 10 });

    begin(log, 2, [{ type: 'text', text: 'Refused.' }, IMAGE]);
    asks();
    log.end(current(log), { status: 'error', last: 20 });
    waiting(log, 3);
    log.end(current(log), { status: 'cancelled', last: 30 });
    begin(log, 4);
    asks();
    asks({ takesImages: false });
    asks();
    asks({ contextWindow: 6_000 });
    answer(log);

    begin(log, 5);
    call(log, { done: 2 });
    call(log, { done: 1 });
    log.addWindow(current(log), windowFrom(5, 1));
    asks();
    call(log, { done: 1 });
    asks();
    log.addWindow(current(log), windowFrom(5, 2));
    asks();
    answer(log);
    begin(log, 6);
    asks();
  });
});

it('what is held of what the model saw makes a request cost the same rows after many exchanges as after few', async () => {
  await onLog(({ log, store, counted }) => {
    const held = new HeldMessages(store);
    const rowsAt: number[] = [];
    for (let ordinal = 1; ordinal <= 60; ordinal++) {
      begin(log, ordinal);
      rowsAt.push(
        counted(() => held.messagesFor(ordinal, sizeOf({ contextWindow: 1_000_000 }), WHOLE)),
      );
      answer(log);
    }
    expect(rowsAt[59]).toBe(rowsAt[4]);
  });
});

it('what is held of what the model saw makes a long run cost the same rows for each of its turns', async () => {
  await onLog(({ log, store, counted }) => {
    const held = new HeldMessages(store);
    const rowsAt: number[] = [];
    begin(log, 1);
    for (let turn = 1; turn <= 40; turn++) {
      rowsAt.push(counted(() => held.messagesFor(1, sizeOf({ contextWindow: 1_000_000 }), WHOLE)));
      call(log, { done: 2 });
    }
    expect(rowsAt[39]).toBe(rowsAt[4]);
  });
});

it('what is held of what the model saw is given up where it would take much memory', async () => {
  await onLog(({ log, store, counted }) => {
    const held = new HeldMessages(store);
    const url = `data:image/png;base64,${'A'.repeat(WINDOW_LIMITS.maxHeldChars / 3)}`;
    const image = { ...IMAGE, image_url: { url } };
    const rowsAt: number[] = [];
    for (let ordinal = 1; ordinal <= 5; ordinal++) {
      begin(log, ordinal, [image]);
      rowsAt.push(counted(() => held.messagesFor(ordinal, sizeOf(), WHOLE)));
      expectSame(held, store, current(log), sizeOf());
      answer(log);
    }
    expect(rowsAt[4]).toBeGreaterThan(rowsAt[2] ?? 0);
  });
});

function expectSame(held: HeldMessages, store: RunStore, { ordinal }: Run, size: ModelSize): void {
  const anew = weighHistory(readHistory(store, ordinal, WHOLE), size);
  for (const sent of [
    held.messagesFor(ordinal, size, WHOLE),
    new HeldMessages(store).messagesFor(ordinal, size, WHOLE),
  ]) {
    expect(messagesIn(sent)).toEqual(messagesIn(anew));
    expect(sent).toEqual({
      ...anew,
      pieces: anew.pieces.map(({ messages, saidChars, chars, turn }) =>
        expect.objectContaining({ messages, saidChars, chars, turn }),
      ),
    });
  }
}

interface Ground {
  readonly log: RunLog;
  readonly store: RunStore;
  /** The rows that are read by the work. */
  counted(work: () => void): number;
}

async function onLog(work: (ground: Ground) => void): Promise<void> {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    new ConversationStore(sql).prepare();
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    const watched: Sql = {
      exec: (query, ...bindings) => {
        const cursor = sql.exec(query, ...bindings);
        cursors.push(cursor);
        return cursor as ReturnType<typeof sql.exec<never>>;
      },
    };
    const store = new RunStore(watched);
    const counted = (counting: () => void) => {
      cursors.length = 0;
      counting();
      return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
    };
    work({ log: new RunLog(store, true), store, counted });
  });
}

function current(log: RunLog): Run {
  const run = log.current;
  if (!run) throw new Error('nothing is running');
  return run;
}

function begin(log: RunLog, ordinal: number, content: MessageContent = 'Go on.'): void {
  const first = ordinal * 10 - 9;
  const request = requestOf(content);
  const machine = machineAt(ordinal);
  log.submit({ ordinal, status: 'running', first, started: first + 1, request, machine });
}

/** Every second run finds a new file and other rules, of which one is sent once a call has read a file. */
function machineAt(ordinal: number): Machine {
  const names = Array.from({ length: Math.ceil(ordinal / 2) }, (_, index) => `file-${index}.ts`);
  const projectLayout = names.join('\n');
  const rule = { folder: '.', origin: 'workspace', text: projectLayout } as const;
  const files: RuleFile[] = [
    { ...rule, path: 'AGENTS.md', kind: 'always' },
    { ...rule, path: 'ts.mdc', kind: 'glob', globs: ['*.ts'] },
  ];
  const place = { os: 'o', shell: 's', workspacePath: '/w' };
  return { tools: [], context: { ...place, projectLayout, rules: { files, leftOut: [] } } };
}

function waiting(log: RunLog, ordinal: number): void {
  const first = ordinal * 10 - 9;
  const request = requestOf('Wait.');
  log.submit({ ordinal, status: 'queued', first, started: null, request, machine: null });
}

/** A turn with calls, the first of which have results. */
function call(log: RunLog, { done, cancelled = 0 }: { done: number; cancelled?: number }): void {
  const run = current(log);
  const ids = Array.from(
    { length: done + cancelled },
    (_, index) => `call_${run.ordinal}_${log.turns.length}_${index}`,
  );
  log.addTurn(run, turnOf('Look.', ids));
  for (const pending of log.pending.slice(0, done)) {
    log.addResult(pending, { status: 'success', data: LONG, metadata: { lines: 1 } });
  }
}

/** The last turn, with which the run ends. */
function answer(log: RunLog): void {
  const run = current(log);
  const end = { status: 'completed' as const, last: run.ordinal * 10 };
  log.addTurn(run, { ...turnOf('Done.', []), end });
}

function turnOf(text: string, ids: readonly string[]): NewTurn {
  const calls = ids.map((id) => ({
    callId: id,
    upstreamId: id,
    documentId: 'doc_001',
    name: 'read_file',
    rawArguments: '{}',
    arguments: { target_file: 'a.ts' },
  }));
  const usage = { promptTokens: 900, completionTokens: 1, totalTokens: 901 };
  return { text, calls, reasoning: 'Hm.', usage, lastSequence: 1, atMs: 0 };
}

function requestOf(content: MessageContent): Run['request'] {
  const messages = [{ role: 'user' as const, content }];
  return { type: 'message', model: 'm', mode: 'agent', messages, createdMs: 0 };
}

function windowFrom(run: number, turns: number) {
  return {
    from: { run, turns },
    prunedThrough: 5,
    usage: null,
    scale: { since: 4, tokensPerChar: 0.3, refused: null },
    digest: { summary: 'Much.', words: ['Look.'], plan: null, todos: [] },
  };
}
