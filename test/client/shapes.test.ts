import { expect, it } from 'vitest';
import * as z from 'zod';
import { Random } from '../../bench/fuzz/random.ts';
import { sampleOf } from '../../bench/fuzz/sample.ts';
import { isAnswer, readAccountEvent, readEvent } from '../../client/shapes.ts';
import { AccountEvent } from '../../shared/api/account-events.ts';
import { dataOfNamed, formatEvent } from '../../shared/api/sse.ts';
import { type ConversationView, DocumentType } from '../../shared/wire/documents.ts';
import { type ReadEvent, StreamEvent } from '../../shared/wire/events.ts';
import { foldConversation } from '../../shared/wire/fold.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from './sample-tape.ts';

it('knows an event of each type', () => {
  const unknown = StreamEvent.options
    .map(({ shape }) => shape.type.value)
    .filter((type) => type !== 'heartbeat')
    .map((type) => readEvent(type, {}));
  expect(unknown.map(({ type }) => type)).toEqual(unknown.map(() => 'unknown'));
  expect(readEvent('heartbeat', {})).toEqual({ type: 'heartbeat' });
});

it('knows an event of each type of an account’s stream, and no event of a tape', () => {
  const types = AccountEvent.options.map(({ shape }) => shape.type.value);
  const read = types.map((type) => readAccountEvent(type, {}).type);
  expect(read).toEqual(types.map((type) => (isBare(type) ? type : 'unknown')));
  const delta = { documentId: 'doc_001', delta: 'a' };
  expect(readAccountEvent('content_delta', delta)).toMatchObject({ type: 'unknown' });
});

function isBare(type: string): boolean {
  return type === 'reset' || type === 'heartbeat';
}

it.each(SAMPLE_TAPE)('reads $type as it was written, with members it does not know', (event) => {
  const data = JSON.parse(/^data: (.*)$/m.exec(formatEvent(event, null, 'named'))?.[1] ?? '');
  expect(readEvent(event.type, data)).toEqual(event);
  expect(readEvent(event.type, { ...data, later: 1 })).not.toMatchObject({ type: 'unknown' });
});

it('reads the end of a document about which nothing more is known', () => {
  const event = { type: 'document_end', documentId: 'doc_001', finalContent: 'Hi' } as const;
  const { type, ...data } = StreamEvent.parse(event);
  expect(readEvent(type, data)).toEqual(event);
});

it.each(['toString', '__proto__', 'constructor'])('takes an event named %s for unknown', (name) => {
  expect(readEvent(name, {})).toEqual({ type: 'unknown', name, data: {} });
});

const CREATED = '2026-11-20T12:00:00Z';
const RESPONSE = {
  id: RESPONSE_ID,
  conversationId: CONVERSATION_ID,
  model: 'demo',
  mode: 'agent' as const,
  created: CREATED,
};
const EMPTY: ConversationView = {
  id: CONVERSATION_ID,
  title: '',
  archived: false,
  created: CREATED,
  bridgeId: null,
  messages: [],
  responses: [],
  earlier: null,
  position: 0,
};

const EVENT_SCHEMAS = StreamEvent.options.map((schema) => ({
  type: schema.shape.type.value,
  schema,
}));

it.each(EVENT_SCHEMAS)(
  'reads any $type, and none without a member that the fold needs',
  ({ type, schema }) => {
    for (const { value, places } of samplesOf(schema)) {
      expect(readEvent(type, dataOfNamed(value))).toEqual(value);
      for (const { path } of places) {
        if (typeof path.at(-1) !== 'string') continue;
        const read = readEvent(type, dataOfNamed(without(value, path)));
        const missing = `${path.join('.')} is missing: name it at ${type} of client/shapes.ts`;
        expect(() => foldIntoEach(read), missing).not.toThrow();
      }
    }
  },
);

/** Events as the schema allows them, the first one without and the second one with all optional members. */
function samplesOf(schema: z.ZodType) {
  const random = new Random(1);
  const described = { components: { schemas: {} } };
  const form = z.toJSONSchema(schema, { unrepresentable: 'any' }) as object;
  return Array.from({ length: 20 }, (_, index) => {
    const fullness = index < 2 ? index : random.fraction();
    const { value, places } = sampleOf(described, form, { random, ids: {}, fullness });
    return { value: value as StreamEvent, places };
  });
}

function without(value: object, path: readonly (string | number)[]): { readonly type: string } {
  const copy = structuredClone(value);
  const owner = path.slice(0, -1).reduce((at, name) => Reflect.get(at, name), copy);
  Reflect.deleteProperty(owner, path.at(-1) ?? '');
  return copy as { readonly type: string };
}

/** Folds the event into a conversation with its message, response and document. Throws where no view comes of it. */
function foldIntoEach(event: ReadEvent): void {
  const { documentId: id = 'doc_001', responseId = RESPONSE_ID } = Object(event);
  for (const type of DocumentType.options) {
    const view = structuredClone(EMPTY);
    const message = { responseId, content: '', created: CREATED, steers: true as const };
    foldConversation(view, { type: 'message', message });
    foldConversation(view, { type: 'response_start', response: { ...RESPONSE, id: responseId } });
    foldConversation(view, { type: 'document_start', document: { id, type, sequence: 1 } });
    foldConversation(view, event);
    if (!isAnswer.conversationView(view)) throw new Error('What it makes is no view.');
    if (JSON.stringify(view).includes('undefined')) throw new Error('It makes a text "undefined".');
  }
}
