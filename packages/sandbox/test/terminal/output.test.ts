import { describe, expect, test } from 'vitest';
import { TERMINAL_LIMITS } from '../../terminal/limits.ts';
import { BoundedOutput } from '../../terminal/output.ts';

const { maxHeadChars, maxTailChars } = TERMINAL_LIMITS;

function kept(pieces: readonly string[]): string {
  const output = new BoundedOutput();
  for (const piece of pieces) output.append(piece);
  return output.toString();
}

describe('the kept output of a command', () => {
  test('is the whole of it while it fits', () => {
    const whole = 'h'.repeat(maxHeadChars) + 't'.repeat(maxTailChars);
    expect(kept([whole])).toBe(whole);
  });

  test('is head and tail with the number of characters between them once it does not fit', () => {
    const text = `${'h'.repeat(maxHeadChars)}123${'t'.repeat(maxTailChars)}`;
    expect(kept([text])).toBe(
      `${'h'.repeat(maxHeadChars)}\n[... 3 characters of output are left out here ...]\n${'t'.repeat(maxTailChars)}`,
    );
  });

  test('is the same however the text is cut into pieces', () => {
    const text = Array.from({ length: 30_000 }, (_, index) => `${index}\n`).join('');
    for (const size of [1, 7, 1_000, 65_536]) {
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
      expect(kept(pieces)).toBe(kept([text]));
    }
  });

  test('never ends or begins in half a character beside the gap', () => {
    const text = `x${'🌉'.repeat(maxHeadChars + maxTailChars)}y`;
    expect(kept([text]).isWellFormed()).toBe(true);
  });

  test('joins a character whose halves lie on both sides of the head’s end', () => {
    const text = `${'h'.repeat(maxHeadChars - 1)}🌉 end`;
    expect(kept([text])).toBe(text);
  });

  test.each([1, 2, 3, 4])('is the same text in pages of any size (%i)', (seed) => {
    const units = Array.from({ length: 60_000 }, (_, at) => (at % (seed + 2) ? `${at}\n` : '🌉'));
    const text = units.join('');
    const output = new BoundedOutput(text.length);
    for (let at = 0; at < text.length; at += 977 * seed)
      output.append(text.slice(at, at + 977 * seed));
    let shown = '';
    for (let cursor = 0; cursor < text.length; ) {
      const page = output.read(cursor, 2 + ((cursor * 7_919) % 50_000));
      expect([page.from, page.text.isWellFormed()]).toEqual([cursor, true]);
      shown += page.text;
      cursor = page.next;
    }
    expect(shown).toBe(text);
    expect(output.read(text.length + 5, 10)).toEqual({
      from: text.length,
      text: '',
      next: text.length,
    });
    expect(output.read(-6, 10).text).toBe(text.slice(-6).replace(/^[\uDC00-\uDFFF]/, ''));
  });

  test('continues behind a gap where its end no longer reaches back to its head', () => {
    const output = new BoundedOutput(1_000);
    for (let at = 0; at < 100; at++) output.append('🌉'.repeat(5_000));
    const first = output.read(0, 10 * maxHeadChars);
    expect(first).toMatchObject({ from: 0, next: maxHeadChars });
    const second = output.read(first.next, 1_000_000);
    expect(second).toMatchObject({ next: 1_000_000, text: '🌉'.repeat(500) });
    expect(second.from).toBe(999_000);
  });
});
