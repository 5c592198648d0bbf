import { describe, expect, it } from 'vitest';
import { decode, encode } from '../encoding.ts';

describe('decode', () => {
  it.each([
    ['UTF-8', Buffer.from('äöü 🦊\n'), { kind: 'utf8', text: 'äöü 🦊\n', bom: false }],
    ['a byte order mark', Buffer.from('\uFEFFa'), { kind: 'utf8', text: 'a', bom: true }],
    ['an empty file', Buffer.from(''), { kind: 'utf8', text: '', bom: false }],
    [
      'UTF-16LE',
      Buffer.from('\uFEFFab', 'utf16le'),
      { kind: 'other', text: 'ab', encoding: 'utf-16le' },
    ],
    [
      'UTF-16BE',
      Buffer.from('\uFEFFab', 'utf16le').swap16(),
      { kind: 'other', text: 'ab', encoding: 'utf-16be' },
    ],
    [
      'latin-1',
      Buffer.from('caf\xe9', 'latin1'),
      { kind: 'other', text: 'café', encoding: 'windows-1252' },
    ],
    ['a NUL near the start', Buffer.from('a\0b'), { kind: 'binary' }],
  ])('knows %s', (_, bytes, decoded) => {
    expect(decode(bytes)).toEqual(decoded);
  });

  it.each(['', 'plain\n', '\uFEFFmarked\r\n', '\uFEFF\uFEFFtwice', 'a\uFEFFb'])(
    'gives the bytes of %j back as they were',
    (text) => {
      const bytes = Buffer.from(text);
      const decoded = decode(bytes);
      expect(decoded.kind === 'utf8' && Buffer.from(encode(decoded.text, decoded.bom))).toEqual(
        bytes,
      );
    },
  );
});
