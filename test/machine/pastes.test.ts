import { expect, test } from 'vitest';
import { PasteReader } from '../../machine/pastes.ts';

const SENT = 'a\x1b[200~one\r\ntwo\x1b[31m\x07\x1b[201~b\x1b[A';
const READ = [
  ['typed', 'a'],
  ['pasted', 'one\ntwo[31m'],
  ['typed', 'b\x1b[A'],
];

test('a marked paste is distinguished from keys wherever it is cut', () => {
  for (let first = 0; first <= SENT.length; first++) {
    for (let second = first; second <= SENT.length; second++) {
      const parts = [SENT.slice(0, first), SENT.slice(first, second), SENT.slice(second)];
      expect(joined(parts)).toEqual(READ);
    }
  }
});

function joined(parts: readonly string[]): string[][] {
  const reader = new PasteReader();
  const read: [string, string][] = [];
  for (const { type, text } of [...parts.flatMap((part) => reader.read(part)), ...reader.flush()]) {
    const last = read.at(-1);
    if (last?.[0] === type) last[1] += text;
    else read.push([type, text]);
  }
  return read;
}
