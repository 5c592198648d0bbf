import { expect, it } from 'vitest';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { FollowedAnswer, type NewWords } from '../../words/answer-reader.ts';

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

it('gives the same text wherever a reader starts again', () => {
  for (let cut = 0; cut <= TAPE.length; cut++) {
    for (const again of [TAPE, TAPE.slice(0, cut)]) {
      const reader = new FollowedAnswer();
      const parts = [
        ...TAPE.slice(0, cut).map((event) => reader.read([event])),
        reader.read(again),
        ...TAPE.slice(again.length).map((event) => reader.read([event])),
      ];
      expect(joined(parts)).toEqual({ content: CONTENT, reasoning: 'Hm.' });
      expect(parts.findLast(({ ending }) => ending)?.ending).toEqual(FINISHED);
      expect(reader.response?.usage).toEqual(USAGE);
    }
  }
});

it('gives other thoughts after those that a crash took back, and the same answer', () => {
  const reader = new FollowedAnswer();
  const [start, thinking] = [TAPE.slice(0, 1), TAPE.slice(0, 3)];
  const parts = [
    reader.read(thinking),
    reader.read([
      ...start,
      { type: 'document_start', document: { id: 'doc_001', type: 'reasoning', sequence: 1 } },
      { type: 'content_delta', documentId: 'doc_001', delta: 'Oh.' },
      ...TAPE.slice(3),
    ]),
  ];
  expect(joined(parts)).toEqual({ content: CONTENT, reasoning: 'Hm.Oh.' });
  expect(parts.at(-1)?.ending).toEqual(FINISHED);
});

const FINISHED = { type: 'finished', reason: 'stop' };

function joined(parts: readonly NewWords[]) {
  return {
    content: parts.map(({ content }) => content).join(''),
    reasoning: parts.map(({ reasoning }) => reasoning).join(''),
  };
}
