import { describe, expect, it } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { sha256 } from '../../../shared/text/sha256.ts';
import { HELD_LIMITS } from '../../../worker/images/limits.ts';
import { heldIn, markerOf } from '../../../worker/images/marker.ts';
import { type ImagePieces, PlacedImages } from '../../../worker/images/put-in.ts';
import { ImageFilter, type ImageHolder } from '../../../worker/images/take-out.ts';

/** Pieces in memory. */
class HeldPieces implements ImagePieces, ImageHolder {
  readonly pieces = new Map<string, string>();

  readonly mark = markerOf;

  async hold(piece: string): Promise<string> {
    const digest = await sha256(piece);
    this.pieces.set(digest, piece);
    return digest;
  }
  charsOf(digest: string): number | null {
    return this.read(digest)?.length ?? null;
  }
  read(digest: string): string | null {
    return this.pieces.get(digest) ?? null;
  }
}

async function filtered(
  parts: readonly string[],
  held: HeldPieces,
  limits: ConstructorParameters<typeof ImageFilter>[1] = {
    inlineChars: 10,
    smallChars: 0,
    pieceChars: 16,
  },
): Promise<string> {
  const filter = new ImageFilter(held, limits);
  let text = '';
  for (const part of parts) text += await filter.push(part);
  return text + (await filter.end());
}

/** The JSON with its images in their places. */
async function filled(text: string, held: HeldPieces): Promise<string> {
  const places = new PlacedImages(held);
  const placed = JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === 'string' ? places.place(value) : value,
  );
  return await new Response(places.fill(placed)).text();
}

const png = (base64: string) => `data:image/png;base64,${base64}`;
const LARGE = 'iVBORw0KGgo/AAAA+ZZZZ/YYYYxxxxWWWWvvvvUUUU==';

describe('a large image', () => {
  it('leaves a marker, and comes back whole', async () => {
    const held = new HeldPieces();
    const body = JSON.stringify({ a: 'text', url: png(LARGE), z: 1 });
    const text = await filtered([body], held);
    expect(text).not.toContain('ZZZZ');
    expect(JSON.parse(text)).toEqual({ a: 'text', url: expect.any(String), z: 1 });
    const [, marker = ''] = JSON.parse(text).url.split(',');
    expect(heldIn(marker)).toEqual({ chars: LARGE.length, digests: [...held.pieces.keys()] });
    expect(await filled(text, held)).toBe(body);
  });

  it('is sent with its length', async () => {
    const held = new HeldPieces();
    const text = await filtered([JSON.stringify([png(LARGE), 'ä€😀', png(LARGE)])], held);
    expect(await filled(text, held)).toBe(JSON.stringify([png(LARGE), 'ä€😀', png(LARGE)]));
  });

  it('stays while there is room, and is taken out then', async () => {
    const held = new HeldPieces();
    const text = await filtered([JSON.stringify([png('AAAA'), png('BBBB'), png('CCCC')])], held);
    expect(JSON.parse(text).map((url: string) => url.includes('held/'))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('is one for all that have its content, however its slashes are written', async () => {
    const held = new HeldPieces();
    const body = JSON.stringify([png(LARGE)]);
    const texts = [body, body.replaceAll('/', '\\/')].map((each) => filtered([each], held));
    const [plain = '', escaped = ''] = await Promise.all(texts);
    expect(JSON.parse(escaped)).toEqual(JSON.parse(plain));
    expect([...held.pieces.values()].join('')).toBe(LARGE);
  });

  it.each([
    ['a quote of JSON in a text', JSON.stringify(JSON.stringify([png(LARGE)]))],
    ['a text file', JSON.stringify([`data:text/plain;base64,${LARGE}`])],
    ['a source file', JSON.stringify([`data:application/x-typescript;base64,${LARGE}`])],
    ['a mention of it', JSON.stringify([`look: ${png(LARGE)}`])],
    ['an address', JSON.stringify(['data:image/png,abc', 'https://example.com/data:image/png'])],
    ['an image that has just begun', `["data:image/png;base6`],
    ['no JSON', `"data:"data:image"data:image/png;`],
  ])('is not %s', async (_, body) => {
    const held = new HeldPieces();
    expect(await filtered([body], held)).toBe(body);
    expect(await filtered([...body], held)).toBe(body);
    expect(held.pieces.size).toBe(0);
  });

  it.each(['application/pdf', 'audio/mpeg', 'image/heic', 'video/mp4;codecs=avc1'])(
    'of a type that no model reads leaves nothing: %s',
    async (type) => {
      const held = new HeldPieces();
      const text = await filtered([JSON.stringify([`data:${type};base64,${LARGE}`])], held);
      expect(JSON.parse(text)).toEqual([`data:${type};base64,left`]);
      expect(held.pieces.size).toBe(0);
    },
  );

  it('that is damaged stays damaged', async () => {
    const held = new HeldPieces();
    for (const wrong of ['!', '\\n', '\\u002f', ' ', '=', '']) {
      const [url] = JSON.parse(await filtered([`["${png(LARGE)}${wrong}${LARGE}"]`], held));
      expect(url).not.toMatch(/^data:image\/png;base64,[A-Za-z\d+/]+={0,2}$/);
    }
  });

  it('is counted as taken out, and what stays is not', async () => {
    const filter = new ImageFilter(new HeldPieces(), {
      inlineChars: 10,
      smallChars: 0,
      pieceChars: 16,
    });
    await filter.push(JSON.stringify([png('AAAA'), png(LARGE), png('BBBB')]));
    await filter.end();
    expect(filter.takenChars).toBe(LARGE.length);
  });
});

it('gives any body back, in whatever pieces it comes', async () => {
  const random = new Random(7);
  const texts = ['"', '\\', 'data:', 'ä😀', 'held/12', '\n', '/', ';base64', 'image/png', 'x'];
  const some = (most: number, of: () => string) =>
    Array.from({ length: random.below(most) }, of).join('');
  const value = (): string => {
    const text = some(6, () => random.pick(texts));
    const type = random.pick(['png', 'jpeg', 'webp', 'gif']);
    const base64 = some(60, () => random.pick([...'abcXYZ019+/']));
    return random.pick([text, `data:image/${type};base64,${base64}`, `${text}${png(base64)}`]);
  };
  for (let round = 0; round < 500; round++) {
    const held = new HeldPieces();
    const values = Array.from({ length: random.below(8) }, value);
    const plain = JSON.stringify({ values, nested: [JSON.stringify(values)] });
    const body = random.pick([plain, plain.replaceAll('/', '\\/')]);
    const parts: string[] = [];
    for (let rest = body; rest !== ''; ) {
      const length = 1 + random.below(40);
      parts.push(rest.slice(0, length));
      rest = rest.slice(length);
    }
    const text = await filtered(parts, held, {
      inlineChars: random.below(30),
      smallChars: random.below(9),
      pieceChars: 8,
    });
    const whole = await filled(text, held);
    expect(JSON.parse(whole), body).toEqual(JSON.parse(body));
  }
});

it('takes for a marker only what is one', () => {
  const digest = 'a'.repeat(64);
  for (const text of ['held/12', 'held/12/abc', `held/1234567890/${digest}`, `held/9/${digest} `]) {
    expect(heldIn(text)).toBeUndefined();
  }
  expect(heldIn(`held/9/${digest}`)).toEqual({ chars: 9, digests: [digest] });
  expect(HELD_LIMITS.pieceChars % 4).toBe(0);
});

it('leaves an image out that is lost, or one too many, and puts no other text in', async () => {
  const held = new HeldPieces();
  const [url = ''] = JSON.parse(await filtered([JSON.stringify([png(LARGE)])], held));
  const places = new PlacedImages(held, LARGE.length);
  const placed = places.place(url);
  expect([places.place(url), placed.includes('held/')]).toEqual(['too_many', false]);
  held.pieces.clear();
  expect(new PlacedImages(held).place(url)).toBe('lost');
  expect(new PlacedImages(held).fill(JSON.stringify([url]))).toBe(JSON.stringify([url]));
});
