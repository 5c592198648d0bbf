import { env, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { isDelta, type TapeEvent } from '../../../../shared/wire/events.ts';
import { ConversationStore } from '../../../../worker/conversation/store/statements.ts';
import { TAPE_LIMITS } from '../../../../worker/conversation/tape/limits.ts';
import { type EventOnTape, Tape } from '../../../../worker/conversation/tape/tape.ts';

const FIRST = TAPE_LIMITS.jump;

it('advances by the UTF-16 units of a delta and by one for any other event', async () => {
  const positions = await onTape((tape) =>
    tape.append([start('doc_001'), delta('doc_001', 'ab😀'), end('doc_001')], 'now'),
  );
  expect(positions.map(({ start: from, end: to }) => [from - FIRST, to - FIRST])).toEqual([
    [0, 1],
    [1, 5],
    [5, 6],
  ]);
});

it('keeps what is grouped together until a commit writes it in one row', async () => {
  const rows = await onTape((tape, store) => {
    tape.append([start('doc_001')], 'now');
    tape.append([delta('doc_001', 'one ')], 'grouped');
    tape.append([delta('doc_001', 'two ')], 'grouped');
    expect(tape.hasPending).toBe(true);
    tape.append([delta('doc_001', 'three'), end('doc_001')], 'now');
    expect(tape.hasPending).toBe(false);
    return [...store.tapeFrom(0)];
  });
  expect(rows).toEqual([
    { position: FIRST, events: [start('doc_001')] },
    { position: FIRST + 1, events: [delta('doc_001', 'one two three'), end('doc_001')] },
  ]);
});

it('never merges or reorders deltas of different documents', async () => {
  const events = [delta('doc_001', 'a'), delta('doc_002', 'b'), delta('doc_001', 'c')];
  const read = await onTape((tape) => {
    tape.append(events, 'grouped');
    tape.commit();
    return [...tape.read(0)].map(({ event }) => event);
  });
  expect(read).toEqual(events);
});

it('commits by itself when too much waits', async () => {
  await onTape((tape) => {
    tape.append([delta('doc_001', 'x'.repeat(TAPE_LIMITS.commitChars))], 'grouped');
    expect(tape.hasPending).toBe(false);
  });
});

it('gives a reader exactly the rest, from every position, committed or not', async () => {
  const script: TapeEvent[][] = [
    [start('doc_001'), delta('doc_001', 'Hello, ')],
    [delta('doc_001', 'wörld 😀!')],
    [end('doc_001'), start('doc_002'), output('doc_002', 'line\n')],
    [output('doc_002', 'more'), delta('doc_003', 'tail')],
  ];
  await onTape((tape) => {
    for (const batch of script) tape.append(batch, 'grouped');
    for (const committed of [false, true]) {
      if (committed) tape.commit();
      const whole = unitsOf([...tape.read(0)]);
      for (let position = FIRST; position <= tape.head; position++) {
        const kind = tape.classify(position);
        const isInsidePair = whole[position - FIRST]?.startsWith('low') ?? false;
        expect([position - FIRST, kind]).toEqual([
          position - FIRST,
          isInsidePair ? 'split' : 'exact',
        ]);
        expect(unitsOf([...tape.read(position)])).toEqual(whole.slice(position - FIRST));
        for (let to = FIRST; to <= tape.head; to++) {
          const part = whole.slice(position - FIRST, Math.max(position, to) - FIRST);
          expect(unitsOf([...tape.read(position, to)])).toEqual(part);
        }
      }
    }
  });
});

it('counts what is stored from the end back, and no further than it has to', async () => {
  const text = 'é'.repeat(1_000);
  const row = JSON.stringify([delta('doc_001', text)]).length + text.length;
  const end = FIRST + 10 * text.length;
  await onTape((tape, store) => {
    for (let written = 0; written < 10; written++) tape.append([delta('doc_001', text)], 'now');
    const rows = vi.spyOn(store, 'tapeSizesBack');
    expect(tape.bytesBetween(FIRST, end, 100 * row)).toBe(10 * row);
    expect(tape.bytesBetween(FIRST + 2_000, FIRST + 4_000, 100 * row)).toBe(2 * row);
    expect(tape.bytesBetween(FIRST, end, 2.5 * row)).toBe(3 * row);
    expect(rows.mock.results.map(({ value }) => value.next())).toEqual(
      Array(3).fill({ value: undefined, done: true }),
    );
    tape.append([delta('doc_002', 'waits')], 'grouped');
    expect(tape.bytesBetween(end - 1_000, tape.head, 100 * row)).toBe(row + 'waits'.length);
    expect(tape.bytesBetween(end - 1_000, end, 100 * row)).toBe(row);
  });
});

it('starts far after everything an earlier instance may have shown', async () => {
  await onTape((tape, store) => {
    tape.append([start('doc_001')], 'now');
    tape.append([delta('doc_001', 'shown, never written')], 'grouped');
    const lost = tape.head;
    const next = new Tape(store, true);
    expect(next.classify(FIRST + 1)).toBe('exact');
    expect(next.classify(lost)).toBe('jump');
    expect(next.classify(FIRST + 1 + TAPE_LIMITS.jump)).toBe('jump');
    expect(next.classify(FIRST + 2 + TAPE_LIMITS.jump)).toBe('beyond');
    const [appended] = next.append([end('doc_001')], 'now');
    expect(appended?.start).toBe(FIRST + 1 + TAPE_LIMITS.jump);
    expect(next.classify(lost)).toBe('jump');
    expect(next.classify(next.head)).toBe('exact');
    expect(next.classify(next.head + 1)).toBe('beyond');
  });
});

it('never gives a position twice, also to instances that die before they have committed', async () => {
  await onTape((tape, store) => {
    tape.append([start('doc_001')], 'now');
    const next = new Tape(store, true);
    next.append([output('doc_001', 'first')], 'grouped');
    next.append([output('doc_001', ' shown, never written')], 'grouped');
    const lost = next.head;
    const third = new Tape(store, true);
    third.append([output('doc_001', 'something that is longer than what was lost')], 'grouped');
    expect(third.classify(lost)).toBe('jump');
    expect([...third.read(0)].map(({ event }) => event)).toEqual([
      start('doc_001'),
      output('doc_001', 'first'),
      output('doc_001', 'something that is longer than what was lost'),
    ]);
  });
});

it('splits what is too large for one row and reads it back whole', async () => {
  await onTape((tape, store) => {
    const big = 'y'.repeat(TAPE_LIMITS.maxRowChars - 100);
    tape.append([delta('doc_001', big), delta('doc_002', big), end('doc_001')], 'now');
    expect([...store.tapeFrom(0)]).toHaveLength(2);
    expect([...tape.read(0)].map(({ event }) => event)).toEqual([
      delta('doc_001', big),
      delta('doc_002', big),
      end('doc_001'),
    ]);
  });
});

it('cuts a delta that is too large for one row, and never inside a character', async () => {
  await onTape((tape, store) => {
    const text = `x${'😀'.repeat(TAPE_LIMITS.maxRowChars)}`;
    tape.append([start('doc_001'), delta('doc_001', text), end('doc_001')], 'now');
    const rows = [...store.tapeFrom(0)];
    const sizes = rows.flatMap(({ events }) =>
      events.flatMap((event) => ('delta' in event ? [event.delta.length] : [])),
    );
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(TAPE_LIMITS.maxRowChars);
    const deltas = [...tape.read(0)].map(({ event }) => event).filter(isDelta);
    expect(deltas.every((event) => event.delta.isWellFormed())).toBe(true);
    expect(deltas.map((event) => event.delta).join('') === text).toBe(true);
  });
});

it('leaves out an event that cannot be written, and never uses its position again', async () => {
  await onTape((tape) => {
    tape.append([start('doc_001')], 'now');
    tape.append([delta('doc_001', 'shown')], 'grouped');
    const shown = tape.head;
    const tooLarge = '語'.repeat(4 * TAPE_LIMITS.jump);
    expect(() =>
      tape.append(
        [{ type: 'tool_call_arguments', documentId: 'doc_002', arguments: { tooLarge } }],
        'now',
      ),
    ).toThrow('SQLITE_TOOBIG');
    expect([tape.classify(shown), tape.classify(shown + 1)]).toEqual(['exact', 'jump']);
    const [after] = tape.append([end('doc_001')], 'now');
    expect(after?.start).toBe(shown + TAPE_LIMITS.jump);
    expect([...tape.read(0)].map(({ event }) => event)).toEqual([
      start('doc_001'),
      delta('doc_001', 'shown'),
      end('doc_001'),
    ]);
  });
});

/** Every UTF-16 unit of a delta and every other event as one entry. */
function unitsOf(entries: readonly EventOnTape[]): string[] {
  return entries.flatMap(({ event }) => {
    if (!isDelta(event)) return [JSON.stringify(event)];
    return Array.from({ length: event.delta.length }, (_, index) => {
      const unit = event.delta.charCodeAt(index);
      const isLow = unit >= 0xdc00 && unit <= 0xdfff;
      return `${isLow ? 'low' : 'unit'} ${event.type} ${event.documentId} ${unit}`;
    });
  });
}

async function onTape<T>(work: (tape: Tape, store: ConversationStore) => T): Promise<T> {
  const id = env.CONVERSATIONS.newUniqueId();
  return await runInDurableObject(env.CONVERSATIONS.get(id), (_, state) => {
    const store = new ConversationStore(state.storage.sql);
    store.create({
      id: 'conv',
      owner: 'someone',
      bridge: null,
      created: '',
      title: '',
      archived: false,
      ephemeral: false,
      deleteAfterHours: null,
      titleAttempts: null,
    });
    return work(new Tape(store, true), store);
  });
}

function start(id: string): TapeEvent {
  return { type: 'document_start', document: { id, type: 'text', sequence: Number(id.slice(4)) } };
}

function delta(documentId: string, text: string): TapeEvent {
  return { type: 'content_delta', documentId, delta: text };
}

function output(documentId: string, text: string): TapeEvent {
  return { type: 'tool_output', documentId, delta: text };
}

function end(documentId: string): TapeEvent {
  return { type: 'document_end', documentId };
}
