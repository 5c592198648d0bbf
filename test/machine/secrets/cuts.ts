/** What stands around and within tokens, and a filter that gets a text in pieces. */
import { expect } from 'vitest';
import { maskSecrets, SecretFilter } from '../../../machine/secrets/filter.ts';

/** Texts around a token. */
export const AROUND: readonly (readonly [string, string])[] = [
  ['', ''],
  ['export TOKEN=', '\n'],
  ['{"token": "', '", "x": 1}'],
  ['"first line\\n', '\\nlast line"'],
  ['\x1b[32m', '\x1b[0m'],
  ['https://example.com/?token%3D', '&x=1'],
  ['https://', '@example.com/a.git'],
  ['Bearer ', '.'],
  ['+', '\r\n'],
  ['\x1b[1;4;38;2;255;100;100m', '\x1b[0m'],
  ['x\x1b(B\x1b[m', '\x1b(B\x1b[m'],
  ['x\x9b1m', '\x9b0m'],
  ['\x1b]8;;https://example.com/', '\x1b\\link\x1b]8;;\x07'],
  ['\x1b]0;title\x07', '\x1b[?25h'],
  ['\x1b]8;;a\n', '\n'],
  ['\0', '\0'],
  ['\\u000a', '\\u000a'],
  ['\\x22', '\\x22'],
  ['\\f', '\\v'],
  ['\\0', '\\0'],
  ['x\\033[1m', '\\033[0m'],
  ['x\\u001b[38;2;255;100;100m', '\\u001b[0m'],
  ['x^[[01;31m^[[K', '^[[m'],
];

/** What a terminal shows nothing of. */
export const UNSEEN = [
  '\x1b[m\x1b[K',
  '\x1b[38;2;255;100;100;48;2;1;22;133;1;4;5m',
  `\x1b[${'1;'.repeat(100)}m`,
  '\x9b1m',
  '\x1b(B',
  `\x1b]8;;https://example.com/${'a/'.repeat(300)}\x1b\\`,
  '\x1bP1$r0m\x1b\\',
  '\\x1b[0m',
  '^[[0m',
  '\xad',
  '\u200b\ufeff',
  '\0',
];

/** Of long texts, at every 7th: the pieces of one character try each end. */
export function expectSameAtEveryCut(text: string): void {
  const whole = maskSecrets(text);
  for (let at = 0; at <= text.length; at += text.length > 500 ? 7 : 1) {
    const filter = new SecretFilter();
    const shown = filter.push(text.slice(0, at)) + filter.push(text.slice(at)) + filter.end();
    if (shown !== whole) expect([at, shown]).toEqual([at, whole]);
  }
  const filter = new SecretFilter();
  const single = Array.from(text, (char) => filter.push(char)).join('') + filter.end();
  expect(single).toBe(whole);
}
