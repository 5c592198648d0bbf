import { expect, it } from 'vitest';
import { imagesOfResults } from '../../../../../worker/conversation/memory/window/transcript.ts';

const image = { mimeType: 'image/png' as const, data: 'AAAA' };
const result = (metadata: object) => ({
  status: 'success' as const,
  data: 'x',
  metadata: { ...metadata },
});
const answered = (...metadata: object[]) => ({ results: [undefined, ...metadata.map(result)] });
const sent = (...metadata: object[]) => imagesOfResults(answered(...metadata), true);

it('the images of a turn stand in one message, in the order of its results', () => {
  const other = { mimeType: 'image/webp' as const, data: 'BBBB' };
  const [message, ...others] = sent({ images: [image] }, {}, { images: [other, image] });
  expect(others).toEqual([]);
  expect(message?.content).toMatchObject([
    { type: 'text' },
    { image_url: { url: 'data:image/png;base64,AAAA' } },
    { image_url: { url: 'data:image/webp;base64,BBBB' } },
    { image_url: { url: 'data:image/png;base64,AAAA' } },
  ]);
});

it('a model that takes no images learns that there are some', () => {
  const turn = answered({ images: [image] }, {}, { images: [image] });
  const content = '[2 image(s), left out: this model takes none]';
  expect(imagesOfResults(turn, false)).toEqual([{ role: 'user', content }]);
  expect(imagesOfResults(answered({}), false)).toEqual([]);
});

it('what is no list of images shows none', () => {
  expect(sent({ images: [{ mimeType: 'image/svg+xml', data: 'A' }] }, { list: [] })).toEqual([]);
});
