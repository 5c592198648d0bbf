/** What the filter of images must leave as it is. */
import { describe, expect, it } from 'vitest';
import { markerOf } from '../../../worker/images/marker.ts';
import { ImageFilter } from '../../../worker/images/take-out.ts';

/** The text behind the filter, and the number of pieces that it held. */
async function filtered(
  body: string,
  { inlineChars = 10, smallChars = 0, pieceChars = 16 } = {},
): Promise<{ text: string; pieces: number }> {
  let pieces = 0;
  const hold = async () => `${pieces++}`.padStart(64, '0');
  const filter = new ImageFilter({ hold, mark: markerOf }, { inlineChars, smallChars, pieceChars });
  const text = await filter.push(body);
  return { text: text + (await filter.end()), pieces };
}

const png = (base64: string) => `data:image/png;base64,${base64}`;
const LARGE = 'iVBORw0KGgo/AAAA+ZZZZ/YYYYxxxxWWWWvvvvUUUU==';

describe('a string that only begins like an image', () => {
  it.each([
    ['a quote', `${png(LARGE)}"`],
    ['a quote and words', `${png(LARGE)}", "what is this?`],
    ['a backslash', `${png(LARGE)}\\`],
    ['a line', `${png(LARGE)}\n${LARGE}`],
  ])('stays in one string with what follows: %s', async (_, value) => {
    const { text } = await filtered(JSON.stringify({ value, next: 1 }));
    expect(JSON.parse(text)).toEqual({ value: expect.any(String), next: 1 });
  });

  it('keeps a backslash before a slash', async () => {
    const body = JSON.stringify([png('AA\\/BB')]);
    const { text } = await filtered(body, { inlineChars: 100 });
    expect(JSON.parse(text)).toEqual(JSON.parse(body));
  });

  it.each([
    ['words behind it', `${png(LARGE)} What is this?`],
    ['a quotation in it', `${png('AAAA')}"${png(LARGE)}`],
  ])('is no image for a model: %s', async (_, value) => {
    const { text } = await filtered(JSON.stringify({ value }));
    expect(JSON.parse(text).value).toMatch(/^data:image\/png;base64,\S*(\(damaged\)|")/);
    expect(text).not.toContain('held/');
  });

  it.each(['content', 'text', 'output', 'input', 'arguments', 'prompt'])(
    'stays in the words of %s, in whatever pieces they come',
    async (key) => {
      const body = JSON.stringify({ [key]: png(LARGE) }, null, 1);
      expect((await filtered(body)).text).toBe(body);
      expect((await filtered([...body].join(''))).text).toBe(body);
    },
  );
});

it('an image with more than two characters of padding is damaged', async () => {
  for (const base64 of [`${'A'.repeat(14)}=====`, `${'A'.repeat(15)}===`]) {
    const { text } = await filtered(JSON.stringify([png(base64)]));
    expect(text, base64).toContain('(damaged)');
  }
});

it('holds no piece that is smaller than its marker', async () => {
  const images = Array.from({ length: 1_000 }, (_, index) => png(`AAA${index}`));
  const body = JSON.stringify(images);
  const { text, pieces } = await filtered(body, { smallChars: 100, pieceChars: 1_000 });
  expect({ pieces, isLonger: text.length > body.length }).toEqual({ pieces: 0, isLonger: false });
});
