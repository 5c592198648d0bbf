import { expect, it } from 'vitest';
import { cutLines, isCutNote } from '../../../shared/text/cut-lines.ts';

const LINES = Array.from({ length: 2_000 }, (_, index) => `line ${index}`).join('\n');

it('leaves a text that fits as it is', () => {
  expect(cutLines(LINES, LINES.length)).toBe(LINES);
});

it('cuts after a whole line, and says how many are left out and how to get them', () => {
  const cut = cutLines(LINES, 100, 'use list_dir').split('\n');
  const shown = cut.slice(0, -1);
  expect(shown).toEqual(LINES.split('\n').slice(0, shown.length));
  expect(shown.length).toBeGreaterThan(4);
  const left = (2_000 - shown.length).toLocaleString('en-US');
  expect(cut.at(-1)).toBe(`... (cut: ${left} more lines, use list_dir)`);
  expect(isCutNote(cut.at(-1) ?? '')).toBe(true);
});

it.each([50, 100, 500, 5_000])('keeps to %d characters', (maxChars) => {
  expect(cutLines(LINES, maxChars).length).toBeLessThanOrEqual(maxChars);
});

it('is the note alone where no line fits', () => {
  expect(cutLines('x'.repeat(99), 50)).toBe('... (cut: 1 more line, use the tools)');
});
