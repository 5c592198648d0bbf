import { env, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import type { TapeEvent } from '../../../../shared/wire/events.ts';
import { ConversationStore } from '../../../../worker/conversation/store/statements.ts';
import { Followers } from '../../../../worker/conversation/tape/followers.ts';
import { TAPE_LIMITS } from '../../../../worker/conversation/tape/limits.ts';
import { Recorder } from '../../../../worker/conversation/tape/recorder.ts';
import { Tape } from '../../../../worker/conversation/tape/tape.ts';

const START: TapeEvent = {
  type: 'document_start',
  document: { id: 'doc_001', type: 'text', sequence: 1 },
};
const DELTA: TapeEvent = { type: 'content_delta', documentId: 'doc_001', delta: 'word ' };

it('stores an answer of twenty seconds in a row for every two of them', async () => {
  await recording((recorder, rows) => {
    recorder.stream([START, DELTA]);
    for (let ms = 0; ms < 20_000; ms += 20) {
      vi.advanceTimersByTime(20);
      recorder.stream([DELTA]);
    }
    recorder.record([{ type: 'document_end', documentId: 'doc_001' }]);
    const groups = 20_000 / TAPE_LIMITS.commitMs;
    expect(rows()).toBeLessThanOrEqual(1 + groups);
    expect(rows()).toBeGreaterThanOrEqual(groups);
  });
});

it('commits what was streamed after two seconds, also when nothing follows', async () => {
  await recording((recorder, rows) => {
    recorder.stream([START]);
    recorder.stream([DELTA]);
    expect(rows()).toBe(1);
    vi.advanceTimersByTime(TAPE_LIMITS.commitMs - 1);
    expect(rows()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(rows()).toBe(2);
    vi.advanceTimersByTime(10 * TAPE_LIMITS.commitMs);
    expect(rows()).toBe(2);
  });
});

it('commits the start of a document before it is shown, and with it what came before', async () => {
  await recording((recorder, rows) => {
    recorder.stream([START]);
    recorder.stream([DELTA]);
    expect(rows()).toBe(1);
    recorder.stream([{ type: 'document_end', documentId: 'doc_001' }, START]);
    expect(rows()).toBe(2);
  });
});

it('has committed whatever it sends, but for what the model is writing', async () => {
  await recording((recorder, rows) => {
    const rowsWhenSent: number[] = [];
    vi.spyOn(Followers.prototype, 'send').mockImplementation(() => {
      rowsWhenSent.push(rows());
    });
    recorder.record([START]);
    recorder.stream([DELTA]);
    recorder.record([{ type: 'document_end', documentId: 'doc_001' }]);
    recorder.stream([START]);
    expect(rowsWhenSent).toEqual([1, 1, 2, 3]);
  });
});

it('commits what an instance shows first, whatever it is', async () => {
  await recording((recorder, rows) => {
    recorder.stream([DELTA]);
    expect(rows()).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('leaves no timer behind once all is committed', async () => {
  await recording((recorder) => {
    recorder.stream([START]);
    recorder.stream([DELTA]);
    expect(vi.getTimerCount()).toBe(1);
    recorder.record([{ type: 'document_end', documentId: 'doc_001' }]);
    expect(vi.getTimerCount()).toBe(0);
    recorder.stream([DELTA]);
    recorder.stream([START]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

async function recording(work: (recorder: Recorder, rows: () => number) => void): Promise<void> {
  const id = env.CONVERSATIONS.newUniqueId();
  await runInDurableObject(env.CONVERSATIONS.get(id), (_, state) => {
    const store = new ConversationStore(state.storage.sql);
    const row = { id: 'conv', owner: 'someone', bridge: null, created: '' };
    store.create({
      ...row,
      title: '',
      archived: false,
      ephemeral: false,
      deleteAfterHours: null,
      titleAttempts: null,
    });
    vi.useFakeTimers();
    const recorder = new Recorder(new Tape(store, true), new Followers(state), null);
    work(recorder, () => [...store.tapeFrom(0)].length);
  });
}
