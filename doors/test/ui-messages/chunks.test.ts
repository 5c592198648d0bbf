import { safeValidateUIMessages } from 'ai';
import { expect, it } from 'vitest';
import { documentIdOf } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import {
  CALL,
  CONVERSATION,
  called,
  chunksOf,
  cutInto,
  done,
  interrupted,
  newReader,
  RESPONSE,
  START,
  said,
  shownBy,
  USAGE,
} from './tape.ts';

const READ = called(3, 'tool_call', 'read_file');

/** Thought, text with code, a call, and a text of the next turn. */
const TAPE: readonly TapeEvent[] = [
  START,
  ...said(1, 'reasoning', 'Hm, a file.'),
  ...said(2, 'text', 'I read `a.txt` 🙂🙂 first: 吾輩は猫である。名前はまだ無い。どこで生れたか。'),
  ...READ.start,
  ...READ.end('1|A'),
  ...said(4, 'text', 'It says:'),
  ...said(5, 'code_block', 'a\n```\nb', { language: 'md' }),
  ...said(6, 'text', ''),
  done(),
];

const FENCED = '```md\na\n```\n\n````md\n```\nb\n````';

it('an answer becomes steps with thoughts, text and calls', async () => {
  const { message, errors } = await shownBy(await chunksOf(TAPE));
  expect(errors).toEqual([]);
  // The SDK takes it back, too, when it was kept.
  const kept = await safeValidateUIMessages({ messages: [message] });
  expect(kept.success).toBe(true);
  expect(message).toMatchObject({
    id: RESPONSE,
    role: 'assistant',
    metadata: { conversationId: CONVERSATION, model: 'm', usage: USAGE },
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm, a file.', state: 'done' },
      { type: 'text', text: TAPE[5] && 'delta' in TAPE[5] && TAPE[5].delta, state: 'done' },
      { type: 'data-document', id: 'doc_003', data: { type: 'tool_call' } },
      {
        type: 'dynamic-tool',
        toolName: 'read_file',
        toolCallId: CALL,
        providerExecuted: true,
        state: 'output-available',
        input: { path: 'a.txt' },
        output: '1|A',
      },
      { type: 'step-start' },
      { type: 'text', text: `It says:\n\n${FENCED}`, state: 'done' },
    ],
  });
});

it('the chunks are the same however deltas are split and merged', async () => {
  const whole = await chunksOf(TAPE);
  for (let size = 1; size <= 40; size++) expect(await chunksOf(cutInto(TAPE, size))).toEqual(whole);
  for (let seed = 1; seed <= 40; seed++) {
    expect(await chunksOf(cutInto(TAPE, sizesFrom(seed)))).toEqual(whole);
  }
  const texts = whole.flatMap((chunk) => ('delta' in chunk ? [chunk.delta] : []));
  expect(Math.max(...texts.map((text) => [...text].length))).toBeLessThanOrEqual(17);
  expect(texts.every((text) => text.isWellFormed())).toBe(true);
});

/** Sizes from 1 to 30 in an order of their own for each seed. */
function sizesFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7f_ff_ff_ff;
    return 1 + (state % 30);
  };
}

it('a reader that has some of the chunks gets the others, wherever it starts again', async () => {
  const whole = await chunksOf(TAPE);
  for (let after = 0; after < whole.length; after++) {
    expect(newReader(after).read(TAPE)).toEqual(whole.slice(after + 1));
  }
  for (let cut = 1; cut < TAPE.length; cut++) {
    expect(await chunksOf(TAPE.slice(0, cut), TAPE)).toEqual(whole);
    expect(await chunksOf(TAPE.slice(0, cut), TAPE.slice(0, 2), TAPE.slice(2))).toEqual(whole);
  }
});

it('a long text is read at once', async () => {
  const text = 'one two '.repeat(100_000);
  const chunks = newReader().read([START, ...said(1, 'text', text), done()]);
  expect(chunks.map((chunk) => ('delta' in chunk ? chunk.delta : '')).join('')).toBe(text);
});

it('the tool’s part has its error, and the document of an edit has its metadata at each question', async () => {
  const edit = called(1, 'file_edit', 'edit_file');
  const asked = {
    callId: CALL,
    bridgeId: 'bridge_1',
    nonce: 'n',
    reason: 'It asks.',
    proposal: { kind: 'call', tool: 'x', arguments: {} },
  } as never as Extract<TapeEvent, { type: 'approval_request' }>;
  const chunks = await chunksOf([
    START,
    ...edit.start,
    { ...asked, type: 'approval_request', documentId: 'doc_001' },
    ...cutInto([{ type: 'tool_output', documentId: 'doc_001', delta: 'live' }], 2),
    {
      type: 'approval_resolved',
      documentId: 'doc_001',
      callId: CALL,
      decision: 'reject',
      by: 'device',
    },
    ...edit.end('No.', 'error'),
    ...said(2, 'error', 'The edit was refused.'),
    done(),
  ]);
  const shown = chunks.flatMap((chunk) => (chunk.type === 'data-document' ? [chunk.data] : []));
  expect(shown.map(({ id, metadata }) => [id, Object.keys(metadata).sort()])).toEqual([
    ['doc_001', []],
    ['doc_001', ['approval', 'toolCallId']],
    ['doc_001', ['answered', 'output', 'toolCallId']],
    ['doc_001', ['answered', 'duration_ms', 'output', 'result', 'toolCallId']],
    ['doc_002', []],
    ['doc_002', []],
  ]);
  const { message } = await shownBy(chunks);
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'data-document' },
    { type: 'dynamic-tool', state: 'output-error', errorText: 'No.' },
    { type: 'data-document', data: { type: 'error', content: 'The edit was refused.' } },
  ]);
});

it('a plan is a text that names its document, a call, and a document', async () => {
  const plan = called(2, 'plan', 'create_plan');
  const [begin, ...rest] = plan.start;
  const chunks = await chunksOf([
    START,
    ...said(1, 'text', 'A plan:'),
    ...(begin ? [begin] : []),
    { type: 'content_delta', documentId: 'doc_002', delta: '# Do it' },
    ...rest,
    ...called(3, 'tool_call', 'x', `${CALL.slice(0, -1)}3`).start,
    { type: 'content_delta', documentId: 'doc_002', delta: ' well' },
    ...plan.end('made'),
    done('cancelled'),
  ]);
  expect((await shownBy(chunks)).message?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'text', text: 'A plan:', state: 'done' },
    { type: 'data-document', id: 'doc_002', data: { type: 'plan', content: '# Do it well' } },
    {
      type: 'text',
      text: '# Do it well',
      state: 'done',
      providerMetadata: { drawbridge: { documentId: 'doc_002' } },
    },
    { type: 'dynamic-tool', toolName: 'create_plan', state: 'output-available' },
    { type: 'data-document', id: 'doc_003' },
    { type: 'dynamic-tool', toolName: 'x', state: 'input-available' },
  ]);
});

it.each([
  ['completed', [{ type: 'finish', finishReason: 'stop' }]],
  [
    'cancelled',
    [
      { type: 'finish', finishReason: 'interrupted' },
      { type: 'abort', reason: 'The answer was cancelled.' },
    ],
  ],
  [
    'error',
    [
      { type: 'finish', finishReason: 'error' },
      { type: 'error', errorText: 'INTERNAL: The run failed.' },
    ],
  ],
] as const)('the end of a response that is %s', async (status, last) => {
  const chunks = await chunksOf([START, ...said(1, 'text', 'Half'), done(status)]);
  const closing = chunks.findIndex(({ type }) => type === 'finish-step');
  expect(chunks.slice(closing + 1)).toMatchObject(last);
  const { errors } = await shownBy(chunks);
  expect(errors).toHaveLength(status === 'error' ? 1 : 0);
});

it('a message that was taken back while it waited has an end, too', async () => {
  const chunks = await chunksOf([done('cancelled')]);
  expect(chunks.map(({ type }) => type)).toEqual(['start', 'finish', 'abort']);
});

describeCrash();

/** What a crash takes back: documents of the turn under way, ended or not, of which the tape has less than was shown. */
function describeCrash(): void {
  const before: TapeEvent[] = [
    START,
    ...READ.start.map(renumbered),
    ...READ.end('A').map(renumbered),
  ];
  const lost: TapeEvent[] = [
    ...said(2, 'reasoning', 'One thought.'),
    ...said(3, 'text', 'Words that nobody will see again.').slice(0, 2),
  ];
  const after: TapeEvent[] = [
    interrupted(2),
    interrupted(3),
    ...said(4, 'text', 'Other words.'),
    done(),
  ];
  const kept = cutInto(lost, 1).slice(0, 24);

  it('a crash resets the step, for the reader that saw it and for a later one', async () => {
    const canonical = await chunksOf([...before, ...kept, ...after]);
    const parts = [
      { type: 'step-start' },
      { type: 'data-document' },
      { type: 'dynamic-tool', state: 'output-available' },
      { type: 'step-start' },
      { type: 'text', text: 'Other words.' },
    ];
    expect((await shownBy(canonical)).message?.parts).toMatchObject(parts);
    expect(canonical.filter(({ type }) => type === 'reset-step')).toHaveLength(1);

    const seen = await chunksOf([...before, ...lost], [...before, ...kept, ...after]);
    expect((await shownBy(seen)).message?.parts).toMatchObject(parts);
    const early = await chunksOf([...before, ...lost], [...before, ...kept], after);
    expect(early).toEqual(seen);
    const twice = await chunksOf(
      [...before, ...lost],
      [...before, ...kept, ...after],
      [...before, ...kept, ...after],
    );
    expect(twice).toEqual(seen);
  });

  it('a reader that comes back with the number of a chunk that was taken back gets it right', async () => {
    const canonical = [...before, ...kept, ...after];
    const shown = await chunksOf([...before, ...lost]);
    for (let held = 1; held <= shown.length; held++) {
      const more = newReader(held - 1).read(canonical);
      const { message, errors } = await shownBy([...shown.slice(0, held), ...more]);
      expect(errors).toEqual([]);
      expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Other words.' });
      expect(message?.parts).toHaveLength(5);
    }
  });

  it('what a crash leaves of a step is sent again', async () => {
    const chunks = await chunksOf([
      START,
      ...said(1, 'text', 'A whole turn.'),
      ...said(2, 'text', 'Half a tu'),
      interrupted(2),
      ...said(3, 'text', 'Another turn.'),
      done(),
    ]);
    expect((await shownBy(chunks)).message?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'A whole turn.\n\nAnother turn.' },
    ]);
  });

  function renumbered(event: TapeEvent): TapeEvent {
    const id = documentIdOf(1);
    if (event.type === 'document_start') {
      return { ...event, document: { ...event.document, id, sequence: 1 } };
    }
    return 'documentId' in event ? ({ ...event, documentId: id } as TapeEvent) : event;
  }
}
