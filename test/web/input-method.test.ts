import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isOfInputMethod } from '../../web/parts/input-method.ts';

it.each([
  ['an Enter during a composition, as in Chromium and Firefox', true, 229, true],
  ['the Enter that has ended a composition, as in Safari', false, 229, true],
  ['a composition without a code, as from a screen reader', true, 13, true],
  ['an Enter of its own', false, 13, false],
])('knows %s', (_, isComposing, keyCode, isOfOne) => {
  expect(isOfInputMethod({ isComposing, keyCode })).toBe(isOfOne);
});

it('is asked wherever the page takes an Enter', () => {
  const web = join(import.meta.dirname, '../../web');
  const holds = (word: string) => (file: string) =>
    readFileSync(join(web, file), 'utf8').includes(word);
  const files = globSync('**/*.{ts,tsx}', { cwd: web });
  const taking = files.filter(holds("'Enter'")).sort();
  expect(taking).toContain('composer/composer.tsx');
  expect(taking.filter(holds('isOfInputMethod('))).toEqual(taking);
});
