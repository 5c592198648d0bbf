import { describe, expect, it } from 'vitest';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { AllowedPath, isWithin } from '../../../shared/text/paths.ts';

describe('a path within allowed ones', () => {
  it.each<[string, string[], boolean]>([
    ['src/a.ts', ['src'], true],
    ['src/a.ts', ['src/'], true],
    ['src/a.ts', ['./src//'], true],
    ['src/deep/er/a.ts', ['src/'], true],
    ['src', ['src/'], true],
    ['src/', ['src'], true],
    ['src/a.ts', ['src/a.ts'], true],
    ['src/a.ts', ['docs', 'src'], true],
    ['./src/a.ts', ['src'], true],
    ['lib/../src/a.ts', ['src'], true],
    ['src/a.ts', ['lib/../src'], true],
    ['src/..odd', ['src'], true],
    ['...', ['...'], true],

    ['srcery/a.ts', ['src'], false],
    ['srcery/a.ts', ['src/'], false],
    ['sr', ['src'], false],
    ['Src/a.ts', ['src'], false],
    ['src/a.ts.bak', ['src/a.ts'], false],
    ['lib/src/a.ts', ['src'], false],
    ['./src/../secret', ['src'], false],
    ['src/../../src/a.ts', ['src'], false],
    ['src', ['src/deep'], false],
    ['.', ['src'], false],
    ['', ['src'], false],
    ['src/..', ['src'], false],
    ['src/a.ts', [], false],

    ['src/a.ts', ['.'], true],
    ['src/a.ts', [''], true],
    ['src/a.ts', ['./'], true],
    ['src/a.ts', ['lib/..'], true],
    ['.', ['.'], true],
    ['', ['.'], true],
    ['.', [''], true],

    ['..', ['.'], false],
    ['../repo/src/a.ts', ['.'], false],
    ['src/../../x', ['.'], false],
    ['/src/a.ts', ['.'], false],
    ['/src/a.ts', ['src'], false],
    ['/', ['.'], false],
    ['src/a.ts', ['/src'], false],
    ['src/a.ts', ['/'], false],
    ['src/a.ts', ['..'], false],
    ['src/a.ts', ['../repo'], false],
  ])('%j in %j: %s', (path, allowed, expected) => {
    expect(isWithin(path, allowed)).toBe(expected);
  });
});

describe('an allowed path', () => {
  it.each<[string, boolean]>([
    ['src/', true],
    ['src/app.ts', true],
    ['.', true],
    ['', true],
    ['src/../lib', true],
    ['x'.repeat(REQUEST_LIMITS.maxPathChars), true],
    ['x'.repeat(REQUEST_LIMITS.maxPathChars + 1), false],
    ['/src', false],
    ['..', false],
    ['src/../../lib', false],
  ])('%j is taken: %s', (path, expected) => {
    expect(AllowedPath.safeParse(path).success).toBe(expected);
  });
});
