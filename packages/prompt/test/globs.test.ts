import { expect, it } from 'vitest';
import { matchesGlobs } from '../globs.ts';

it.each([
  ['*.ts', ['a.ts', 'src/deep/a.ts'], ['a.tsx', 'ts']],
  ['src/*.ts', ['src/a.ts'], ['src/b/a.ts', 'a.ts', 'other/src/a.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['a.ts', 'src/a.js']],
  ['**/test/**', ['test/a', 'x/test/b/c'], ['tests/a']],
  ['src/', ['src/a', 'src/b/c'], ['src', 'other/src/a']],
  ['./src/**', ['src/a'], ['a']],
  ['**/*', ['a', 'b/c'], []],
  ['*.{ts,tsx}', ['a.ts', 'b/a.tsx'], ['a.js']],
  ['{src,test}/{a,b{c,d}}.ts', ['src/a.ts', 'test/bd.ts'], ['src/b.ts']],
  ['a?[b-d_]/[!x]*', ['axc/y', 'ay_/z1'], ['ac/y', 'axe/y', 'axc/x']],
  ['Dockerfile*', ['Dockerfile', 'x/Dockerfile.dev'], ['dockerfile']],
  ['[x', ['[x'], ['x']],
  ['a{b', ['a{b'], ['ab']],
])('matches %s as people mean it', (glob, matching, others) => {
  expect([...matching, ...others].filter((path) => matchesGlobs([glob], path))).toEqual(matching);
});

it('takes out what a glob with ! matches', () => {
  expect(matchesGlobs(['!*.test.ts', '*.ts'], 'a.ts')).toBe(true);
  expect(matchesGlobs(['!*.test.ts', '*.ts'], 'a.test.ts')).toBe(false);
  expect(matchesGlobs(['!*.test.ts'], 'a.ts')).toBe(false);
});

it('ends for globs that make a matcher with backtracking hang', () => {
  const path = `${'a'.repeat(500)}/${'a/'.repeat(200)}b`;
  expect(matchesGlobs(['*a'.repeat(90), `${'**/a/'.repeat(30)}c`], path)).toBe(false);
  expect(matchesGlobs(['{a,b}'.repeat(39)], path)).toBe(false);
});
