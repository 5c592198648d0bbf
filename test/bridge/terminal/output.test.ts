import { describe, expect, test } from 'vitest';
import { BoundedOutput } from '../../../bridge/terminal/output.ts';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';

const { maxHeadChars, maxTailChars } = COMMAND_LIMITS;

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
      `${'h'.repeat(maxHeadChars)}\n[... 3 characters of output were dropped here ...]\n${'t'.repeat(maxTailChars)}`,
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
});
