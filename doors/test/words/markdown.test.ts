import { describe, expect, it } from 'vitest';
import { splitsOf } from '../../../packages/model/test/splits.ts';
import { documentIdOf } from '../../../shared/ids.ts';
import { Rendering, renderWords } from '../../../shared/shown/markdown.ts';
import { BUILT_IN } from '../../../shared/tools/toolbox.ts';
import type { Document } from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { foldEvent, newResponse } from '../../../shared/wire/fold.ts';
import { ReplyDocuments } from '../../../worker/reply/documents.ts';

describe('what a model wrote comes back as it was', () => {
  it.each([
    ['text', 'One.\n\nTwo.'],
    ['code between texts', 'A:\n\n```js\nlet a;\n```\n\nB.'],
    ['a fence without a word', '```\nx\n```'],
    ['a reference', '```12:14:src/a b.py\nx\ny\n```'],
    ['code with a fence in it', '````md\n```js\nx\n```\n````'],
    ['a fence longer than it needs to be', '`````md\nx\n`````'],
    ['a longer fence around a reference', '````1:2:a.md\n```\nx\n````'],
    ['an empty block', 'A\n\n```js\n```'],
    ['blocks behind one another', '```js\na\n```\n\n```py\nb\n```'],
  ])('%s', (_, text) => {
    expect(renderWords(documentsOf(text)).content).toBe(text);
  });

  it('normalises what Markdown does not need', () => {
    const written = '~~~js title=x\r\nlet a;\r\n~~~\nText right behind it.\n\n\n';
    expect(renderWords(documentsOf(written)).content).toBe(
      '```js\nlet a;\n```\n\nText right behind it.',
    );
  });
});

it('leaves out what tools did, and a text without words', () => {
  expect(
    renderWords([
      document('text', 'First.'),
      document('tool_call', null),
      document('error', 'There is no such file.'),
      document('text', ''),
      document('file_edit', 'x'),
      document('plan', '# Plan\n\n1. Do it'),
      document('todo_update', null),
      document('terminal_command', null),
      document('clarification', 'Which?'),
      document('text', 'Last.'),
    ]),
  ).toEqual({ content: 'First.\n\n# Plan\n\n1. Do it\n\nLast.', reasoning: '' });
});

it('keeps thoughts apart', () => {
  const documents = [
    document('reasoning', 'Hm.'),
    document('text', 'Yes.'),
    document('reasoning', 'Or?'),
    document('text', 'No.'),
  ];
  expect(renderWords(documents)).toEqual({ content: 'Yes.\n\nNo.', reasoning: 'Hm.\n\nOr?' });
});

it('renders documents that grow to the same text, however they are cut', () => {
  const text =
    'Look:\n\n```js\nlet a = `x`;\n\nb();\n```\n\n```1:2:a.ts\nx\n```\n\n' +
    'In Markdown:\n\n````md\n```js\na\n```\n````\n\nThat is all.';
  for (const pieces of splitsOf(text)) {
    const replies = newReply();
    const rendering = new Rendering();
    let content = '';
    const see = (events: readonly TapeEvent[]) => {
      for (const event of events) {
        if (event.type === 'document_start') rendering.start(event.document);
        if (event.type === 'content_delta') rendering.add(event.documentId, event.delta);
        if (event.type === 'document_end') rendering.end(event.documentId);
      }
      content += rendering.take().content;
    };
    for (const piece of pieces) {
      see(replies.push([{ type: 'text', text: piece }]));
      expect(text.startsWith(content)).toBe(true);
    }
    see(replies.end(ENDED).events);
    expect(content).toBe(text);
  }
});

it('renders many documents at once in one pass', () => {
  const rendering = new Rendering();
  const ids = Array.from({ length: 80_000 }, (_, index) => documentIdOf(index + 1));
  for (const id of ids) {
    rendering.start({ id, type: 'text' });
    rendering.add(id, 'a');
    rendering.end(id);
  }
  // With a look at every document for each part this test would take minutes.
  expect(rendering.take().content).toBe(ids.map(() => 'a').join('\n\n'));
});

it('renders a later document after the end of the open one', () => {
  const rendering = new Rendering();
  rendering.start({ id: 'doc_001', type: 'plan' });
  rendering.start({ id: 'doc_002', type: 'plan' });
  rendering.add('doc_002', '# B');
  rendering.add('doc_001', '# A');
  expect(rendering.take().content).toBe('# A');
  rendering.add('doc_001', '\n1.');
  rendering.end('doc_001');
  expect(rendering.take().content).toBe('\n1.\n\n# B');
});

function documentsOf(text: string): Document[] {
  const replies = newReply();
  const response = newResponse(START);
  const events = [...replies.push([{ type: 'text', text }]), ...replies.end(ENDED).events];
  for (const event of events) foldEvent(response, event);
  return response.documents;
}

function newReply(): ReplyDocuments {
  const options = { nextSequence: 1, newCallId: () => '', withReasoning: false };
  return new ReplyDocuments({ ...options, toolbox: BUILT_IN });
}

let count = 0;

function document(type: Document['type'], content: string | null): Document {
  const sequence = ++count;
  return { id: documentIdOf(sequence), type, sequence, content, metadata: {} };
}

const START = {
  id: 'chat_00000000-0000-4000-8000-000000000001',
  conversationId: 'conv_00000000-0000-4000-8000-000000000000',
  model: 'm',
  mode: 'agent' as const,
  created: '2026-01-01T00:00:00Z',
};

const ENDED = {
  outcome: 'completed' as const,
  finishReason: 'stop',
  text: '',
  reasoning: null,
  calls: [],
  usage: null,
  error: null,
};
