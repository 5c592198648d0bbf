import { expect, it } from 'vitest';
import type { ModelSize } from '../../../../../worker/conversation/memory/window/size.ts';
import {
  roomOf,
  tokensPerChar,
  weigh,
} from '../../../../../worker/conversation/memory/window/size.ts';
import { sizeOf } from './histories.ts';

const SCALE = { since: 0, tokensPerChar: 0.25, refused: null };

it.each<[string, Partial<ModelSize>, number]>([
  ['a large window, less the usual answer', { contextWindow: 100_000 }, 320_000],
  ['a small window, less a quarter', { contextWindow: 10_000 }, 30_000],
  ['less the answer that is asked for', { contextWindow: 32_000, maxOutputTokens: 16_000 }, 64_000],
  ['a quarter beside any answer', { contextWindow: 32_000, maxOutputTokens: 32_000 }, 32_000],
  ['a usual window where none is known', { contextWindow: undefined }, 432_000],
])('the room is %s', (_, changes, chars) => {
  expect(roomOf(sizeOf(changes), SCALE)).toBe(chars);
});

it('is smaller for a model that has refused more, and for no other', () => {
  const scale = { ...SCALE, refused: { model: 'm', chars: 5_000 } };
  expect(roomOf(sizeOf(), scale)).toBe(5_000);
  expect(roomOf(sizeOf({ model: 'other' }), scale)).toBe(30_000);
});

it.each([
  [1_000, 4_000, 0.25],
  [1, 4_000, 1 / 6],
  [90_000, 4_000, 2],
  [5, 0, 2],
])('%d tokens for %d characters are taken as %d each', (tokens, chars, expected) => {
  expect(tokensPerChar(tokens, chars)).toBe(expected);
});

it('weighs all that a message carries, and an image by a fixed number', () => {
  const url = `data:image/png;base64,${'A'.repeat(90_000)}`;
  const call = {
    id: 'c',
    type: 'function' as const,
    function: { name: 'write', arguments: 'x'.repeat(500) },
  };
  const plain = weigh([{ role: 'assistant', content: 'x'.repeat(100) }]);
  const calling = weigh([
    {
      role: 'assistant',
      content: 'x'.repeat(100),
      tool_calls: [call],
      reasoning_details: ['y'.repeat(300)],
    },
  ]);
  expect(plain).toBeGreaterThan(100);
  expect(calling).toBeGreaterThan(plain + 800);
  const image = weigh([{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]);
  expect(image).toBeGreaterThan(1_000);
  expect(image).toBeLessThan(10_000);
});
