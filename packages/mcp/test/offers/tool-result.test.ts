import { expect, it } from 'vitest';
import { toToolResult } from '../../offers/tool-result.ts';

const text = (said: string) => ({ type: 'text' as const, text: said });
const image = (mimeType: string, chars = 4) => ({
  type: 'image' as const,
  mimeType,
  data: 'A'.repeat(chars),
});

it('people get the images that a browser shows and that fit', () => {
  const { data, metadata } = toToolResult({
    content: [
      image('image/png', 600_000),
      image('image/webp', 600_000),
      image('image/svg+xml'),
      image('image/gif'),
    ],
  });
  expect(metadata).toEqual({
    images: [
      { mimeType: 'image/png', data: 'A'.repeat(600_000) },
      { mimeType: 'image/gif', data: 'AAAA' },
    ],
  });
  expect(data.split('\n\n')).toEqual([
    '[image: image/png, 450000 bytes, shown to the person]',
    '[image: image/webp, 450000 bytes, not shown]',
    '[image: image/svg+xml, 3 bytes, not shown]',
    '[image: image/gif, 3 bytes, shown to the person]',
  ]);
});

const STRUCTURED = { sum: 3 };
it.each([
  ['alone is shown', [], '{\n  "sum": 3\n}'],
  ['beside other text is shown', [text('Done.')], 'Done.\n\n{\n  "sum": 3\n}'],
  ['that a text repeats is shown once', [text('{"sum":3}')], '{"sum":3}'],
  ['beside broken JSON is shown', [text('{"sum":')], '{"sum":\n\n{\n  "sum": 3\n}'],
])('structured content %s', (_, content, data) => {
  expect(toToolResult({ content, structuredContent: STRUCTURED })).toEqual({
    status: 'success',
    data,
  });
});

it.each<[name: string, texts: string[], structured: unknown]>([
  ['as the one value around a text', ['two\nlines'], { result: 'two\nlines' }],
  ['as the one value of JSON', ['3'], { result: 3 }],
  ['as JSON with other spaces', ['[\n 1, 2\n]'], [1, 2]],
  ['as a list of texts', ['a', '{"b":1}'], { result: ['a', { b: 1 }] }],
  ['as the texts together', ['a', 'b'], { content: 'a\nb' }],
])('structured content that the texts repeat %s is given once', (_, texts, structuredContent) => {
  const { data } = toToolResult({ content: texts.map(text), structuredContent });
  expect(data).toBe(texts.join('\n\n'));
});

it.each<[name: string, texts: string[], structured: unknown]>([
  ['more than the text', ['3'], { sum: 3, unit: 'm' }],
  ['an empty list beside no text', [], { result: [] }],
  ['another value', ['3 tickets'], { result: 3 }],
])('structured content that says %s is given, too', (_, texts, structuredContent) => {
  const { data } = toToolResult({ content: texts.map(text), structuredContent });
  expect(data).toContain(texts.join('\n\n'));
  expect(JSON.parse(data.slice(texts.join('\n\n').length))).toEqual(structuredContent);
});
