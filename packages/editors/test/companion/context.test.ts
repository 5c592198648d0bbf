import { expect, it } from 'vitest';
import { SentContext, toContextUpdate } from '../../companion/context.ts';

const cursor = { line: 3, character: 1 };

function updateOf(context: SentContext) {
  return toContextUpdate(SentContext.parse(context)).workspaceState;
}

it('the newest files come first, ten of them, and only the first can be active', () => {
  const files = Array.from({ length: 12 }, (_, timestamp) => ({
    path: `/${timestamp}`,
    timestamp,
    isActive: true,
    cursor,
    selectedText: 'text',
  }));
  const { openFiles } = updateOf({ openFiles: files });
  expect(openFiles.map(({ timestamp }) => timestamp)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  expect(openFiles[0]).toEqual(files[11]);
  expect(openFiles[1]).toEqual({ path: '/10', timestamp: 10 });
});

it('without the focus on the newest file, none has cursor or selection', () => {
  const openFiles = [
    { path: '/old', timestamp: 1, isActive: true, cursor },
    { path: '/new', timestamp: 2, isActive: false, cursor, selectedText: 'text' },
  ];
  expect(updateOf({ openFiles })).toEqual({
    openFiles: [
      { path: '/new', timestamp: 2 },
      { path: '/old', timestamp: 1 },
    ],
  });
});

it.each([
  ['', undefined],
  ['x'.repeat(16_384), 'x'.repeat(16_384)],
  ['x'.repeat(16_385), 'x'.repeat(16_384)],
  [`${'x'.repeat(16_383)}😀`, 'x'.repeat(16_383)],
])('a selection has at most 16,384 units, and no half character', (selectedText, expected) => {
  const { openFiles } = updateOf({
    openFiles: [{ path: '/a', timestamp: 1, isActive: true, selectedText }],
  });
  expect(openFiles[0]?.selectedText).toBe(expected);
  expect(JSON.stringify(openFiles)).not.toContain('null');
});

it.each([
  { openFiles: null },
  { openFiles: [{ path: 'relative', timestamp: 1 }] },
  { openFiles: [{ path: '/a', timestamp: Number.NaN }] },
  { openFiles: [{ path: '/a', timestamp: 1, selectedText: null }] },
  { openFiles: [{ path: '/a', timestamp: 1, cursor: { line: 0, character: 1 } }] },
  { openFiles: [{ path: '/a', timestamp: 1, cursor: { line: 1, character: 1.5 } }] },
  { openFiles: [], isTrusted: null },
])('what a CLI would disconnect for is refused: %j', (context) => {
  expect(SentContext.safeParse(context).success).toBe(false);
});
