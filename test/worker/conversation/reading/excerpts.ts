/** Parts, chapters and openings of random conversations, held against the whole of each. */
import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import { newConversationId, parseResponseId } from '../../../../shared/ids.ts';
import type { ConversationView } from '../../../../shared/wire/documents.ts';
import { answerOf, foldConversation } from '../../../../shared/wire/fold.ts';
import { RunLog } from '../../../../worker/conversation/log/run-log.ts';
import { Views } from '../../../../worker/conversation/reading/views.ts';
import { ConversationStore } from '../../../../worker/conversation/store/statements.ts';
import { Tape } from '../../../../worker/conversation/tape/tape.ts';
import { ConversationWriter } from '../long-conversation.ts';

/** Defines the tests of as many conversations. */
export function testExcerpts(count: number): void {
  const seeds = Array.from({ length: count }, (_, index) => index + 1);

  it.each(seeds)(
    'a conversation read in parts is the whole of it, whatever waited for what (seed %i)',
    async (seed) => {
      await withHistory(seed, ({ views, tape, folded }) => {
        for (const limit of [1, 2, 3, 7]) {
          const parts = [...partsBack(views, limit)];
          expect(byResponse(parts)).toEqual(byResponse([folded]));
          for (const part of parts) expect(part.position).toBe(tape.head);
          // What has not ended is in the newest part, and in it the limit is kept otherwise.
          const [newest, ...others] = parts;
          const open = folded.responses.find(({ status }) => status === 'streaming');
          if (open) expect(newest?.responses).toContainEqual(open);
          for (const { messages } of others) {
            expect(messages.filter(({ steers }) => !steers).length).toBeLessThanOrEqual(limit);
          }
        }
      });
    },
  );

  it.each(seeds)(
    'a chapter shows a conversation as it stood at any earlier end of its tape (seed %i)',
    async (seed) => {
      await withHistory(seed, ({ views, tape, folded }) => {
        for (const { end: until } of tape.read(0)) {
          const { view, next } = views.chapter({ ordinal: 1, until });
          expect(next).toBe(null);
          const expected = emptyOf(folded);
          for (const { event } of tape.read(0, until)) foldConversation(expected, event);
          const sent = byResponse([{ ...expected, responses: expected.responses.map(answerOf) }]);
          // A message says what it says now.
          const now = new Map(byResponse([folded]));
          expect(byResponse([view])).toEqual(
            sent.map(([id, { response, messages }]) => [
              id,
              { response, messages: [now.get(id)?.messages[0], ...messages.slice(1)] },
            ]),
          );
        }
      });
    },
  );

  it.each(seeds.filter((seed) => seed % 3 === 0))(
    'a part that was opened at any moment becomes with what follows what it is at the end (seed %i)',
    async (seed) => {
      const opened: ConversationView[] = [];
      const open = (views: Views) => {
        opened.push(...[1, 3].map((limit) => views.newest({ before: null, limit })));
      };
      const check = ({ tape, folded }: History) => {
        const whole = new Map(byResponse([folded]));
        for (const part of opened) {
          const begins = part.messages[0]?.responseId ?? '';
          for (const { event } of tape.read(part.position)) foldConversation(part, event);
          const expected = [...whole].filter(([id]) => id >= begins);
          expect(byResponse([{ ...part, responses: part.responses.map(answerOf) }])).toEqual(
            expected,
          );
        }
      };
      await withHistory(seed, check, open);
      expect(opened).toHaveLength(100);
    },
  );
}

interface History {
  readonly views: Views;
  readonly tape: Tape;
  /** All events, folded by a reader who saw them all. */
  readonly folded: ConversationView;
}

/** Writes some fifty random steps, and reads them as another instance of the object. */
async function withHistory(
  seed: number,
  check: (history: History) => void,
  onStep: (views: Views) => void = () => undefined,
): Promise<void> {
  const conversationId = newConversationId(crypto.randomUUID());
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage }) => {
    const writer = new ConversationWriter(storage.sql, conversationId, 'ada');
    const store = new ConversationStore(storage.sql);
    const row = store.readConversation();
    if (!row) throw new Error('nothing was stored');
    const viewsOf = (tape: Tape) => new Views({ row }, { tape, log: new RunLog(store.runs, true) });
    writeSteps(writer, new Random(seed), () => onStep(viewsOf(writer.tape)));
    const tape = new Tape(store, true);
    const views = viewsOf(tape);
    const folded = emptyOf(views.newest());
    for (const { event } of tape.read(0)) foldConversation(folded, event);
    check({ views, tape, folded: { ...folded, responses: folded.responses.map(answerOf) } });
  });
  await evictDurableObject(stub);
}

/** Messages come while others are answered, wait, are changed, steer, and are taken back. */
function writeSteps(writer: ConversationWriter, random: Random, onStep: () => void): void {
  const waiting: number[] = [];
  let newest = 0;
  let running: { readonly ordinal: number; documents: number } | null = null;
  for (let step = 0; step < 50; step++) {
    const chance = random.fraction();
    const one = waiting[random.below(waiting.length)];
    if (chance < 0.3 || newest === 0) {
      writer.say(++newest, `Message ${newest}`);
      waiting.push(newest);
    } else if (chance < 0.4 && one !== undefined) writer.edit(one, `Changed at ${step}`);
    else if (chance < 0.45 && one !== undefined) {
      writer.end(one, 'cancelled');
      waiting.splice(waiting.indexOf(one), 1);
    } else if (chance < 0.5) writer.rename(`Title ${step}`);
    else if (running && chance < 0.6) writer.steer(running.ordinal, `Steer ${step}`);
    else if (running && chance < 0.8) {
      writer.answer(running.ordinal, `Said at ${step} 😀`, ++running.documents);
    } else if (running) {
      writer.end(running.ordinal, 'completed');
      running = null;
    } else if (waiting.length > 0) {
      running = { ordinal: waiting.shift() ?? 0, documents: 0 };
      writer.start(running.ordinal);
    }
    onStep();
  }
}

function* partsBack(views: Views, limit: number): Generator<ConversationView> {
  let before: number | null = null;
  do {
    const view: ConversationView = views.newest({ before, limit });
    yield view;
    before = view.earlier === null ? null : parseResponseId(view.earlier).ordinal;
  } while (before !== null);
}

/** Each exchange: its message and those that steered it in their order, and its response. */
function byResponse(views: readonly ConversationView[]) {
  const messages = views.flatMap((view) => view.messages);
  const responses = views.flatMap((view) => view.responses);
  return [...Map.groupBy(messages, ({ responseId }) => responseId)]
    .map(([id, said]) => {
      const [response, second] = responses.filter((other) => other.id === id);
      expect(second).toBe(undefined);
      return [id, { response, messages: said }] as const;
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function emptyOf(view: ConversationView): ConversationView {
  return { ...view, messages: [], responses: [] };
}
