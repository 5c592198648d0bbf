import { expect, it } from 'vitest';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { AnswerReader, type Told } from '../../../worker/words/answer-reader.ts';

const USAGE = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };

const TAPE: readonly TapeEvent[] = [
  {
    type: 'response_start',
    response: {
      id: 'chat_00000000-0000-4000-8000-000000000001',
      conversationId: 'conv_00000000-0000-4000-8000-000000000000',
      model: 'm',
      mode: 'agent',
      created: '2026-01-01T00:00:00Z',
    },
  },
  { type: 'document_start', document: { id: 'doc_001', type: 'reasoning', sequence: 1 } },
  { type: 'content_delta', documentId: 'doc_001', delta: 'Hm.' },
  { type: 'document_end', documentId: 'doc_001', finalContent: 'Hm.' },
  { type: 'document_start', document: { id: 'doc_002', type: 'text', sequence: 2 } },
  { type: 'content_delta', documentId: 'doc_002', delta: 'Lo' },
  { type: 'content_delta', documentId: 'doc_002', delta: 'ok:' },
  { type: 'document_end', documentId: 'doc_002', finalContent: 'Look:' },
  {
    type: 'document_start',
    document: { id: 'doc_003', type: 'code_block', sequence: 3, metadata: { language: 'md' } },
  },
  { type: 'content_delta', documentId: 'doc_003', delta: 'a\n``' },
  { type: 'content_delta', documentId: 'doc_003', delta: '`\nb' },
  { type: 'document_end', documentId: 'doc_003', finalContent: 'a\n```\nb' },
  {
    type: 'done',
    responseId: 'chat_00000000-0000-4000-8000-000000000001',
    status: 'completed',
    usage: USAGE,
    metadata: { duration_ms: 1, toolCallCount: 0, turnCount: 1 },
  },
];

const CONTENT = 'Look:\n\n```md\na\n```\n\n````md\n```\nb\n````';

it('tells the same wherever a reader has to begin again', () => {
  for (let cut = 0; cut <= TAPE.length; cut++) {
    for (const again of [TAPE, TAPE.slice(0, cut)]) {
      const telling = new AnswerReader();
      const told = [
        ...TAPE.slice(0, cut).map((event) => telling.see([event])),
        telling.see(again),
        ...TAPE.slice(again.length).map((event) => telling.see([event])),
      ];
      expect(joined(told)).toEqual({ content: CONTENT, reasoning: 'Hm.' });
      expect(told.findLast(({ ending }) => ending)?.ending).toEqual(FINISHED);
      expect(telling.response?.usage).toEqual(USAGE);
    }
  }
});

it('tells other thoughts behind those that were taken back, and the answer all the same', () => {
  const telling = new AnswerReader();
  const [start, thinking] = [TAPE.slice(0, 1), TAPE.slice(0, 3)];
  const told = [
    telling.see(thinking),
    telling.see([
      ...start,
      { type: 'document_start', document: { id: 'doc_001', type: 'reasoning', sequence: 1 } },
      { type: 'content_delta', documentId: 'doc_001', delta: 'Oh.' },
      ...TAPE.slice(3),
    ]),
  ];
  expect(joined(told)).toEqual({ content: CONTENT, reasoning: 'Hm.Oh.' });
  expect(told.at(-1)?.ending).toEqual(FINISHED);
});

const FINISHED = { type: 'finished', reason: 'stop' };

function joined(told: readonly Told[]) {
  return {
    content: told.map(({ content }) => content).join(''),
    reasoning: told.map(({ reasoning }) => reasoning).join(''),
  };
}
