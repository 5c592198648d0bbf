/** Documents that unpack to gigabytes or never end: reading them ends in bounded time and memory. */

import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { CONTENT_TASKS } from '../../../bridge/compute/tasks.ts';
import { DocumentProcess } from '../../../machine/compute/document-process.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { GIB, MIB } from '../../../shared/units.ts';
import { type Page, pdfOf } from './pdf.ts';
import { memoryOf } from './reader.ts';

const flat = '/Filter /FlateDecode';
const blank = deflateSync(Buffer.alloc(GIB, ' '), { level: 9 });
const nested = deflateSync(blank, { level: 9 });
const work = deflateSync('BT /F1 12 Tf (a) Tj ET '.repeat(2_000_000), { level: 9 });

const HOSTILE: readonly [string, readonly Page[]][] = [
  ['5 GB of blanks', Array.from({ length: 5 }, () => ({ filter: flat, stream: blank }))],
  [
    'blanks that are packed twice',
    Array.from({ length: 20 }, () => ({
      filter: '/Filter [/FlateDecode /FlateDecode]',
      stream: nested,
    })),
  ],
  [
    'a page of 2 million characters',
    Array.from({ length: 50 }, () => ({ filter: flat, stream: work })),
  ],
];

const cells = (count: number) => {
  const list = Array(count).fill('{"cell_type":"raw","source":[],"metadata":{}}');
  return Buffer.from(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[${list.join(',')}]}`);
};

const BOMBS: readonly [string, string, () => Uint8Array][] = [
  ...HOSTILE.map(([what, pages]) => [`PDF of ${what}`, 'a.pdf', () => pdfOf(pages)] as const),
  ['notebook of 400,000 cells', 'a.ipynb', () => cells(400_000)],
  [
    'notebook of brackets',
    'a.ipynb',
    () => Buffer.from(`{"nbformat":4,"cells":[${'[],'.repeat(6_600_000)}[]]}`),
  ],
].map(([what, name, make]) => [what, name, make] as [string, string, () => Uint8Array]);

it.each(BOMBS)('a %s is read in part or refused, within 400 MB', async (_, name, make) => {
  const documents = new DocumentProcess();
  const view = { name, bytes: make(), offset: 1, limit: undefined };
  const { result, mb } = await memoryOf(() =>
    documents.run(CONTENT_TASKS.showFile, view, new AbortController().signal).then(
      ({ range }) => range.endLine,
      (error: unknown) => error instanceof ToolFailure && error.code,
    ),
  );
  expect(['TOO_COMPLEX', 1]).toContain(result);
  expect(mb).toBeLessThan(400);
  // The next document gets a new process.
  const plain = { ...view, name: 'a.pdf', bytes: pdfOf(['text']) };
  expect(
    await documents.run(CONTENT_TASKS.showFile, plain, new AbortController().signal),
  ).toMatchObject({
    text: '[page 1 of 1]\ntext',
  });
});

it('an image of 20 MB that is damaged everywhere is refused, within 400 MB', async () => {
  const documents = new DocumentProcess();
  const bytes = Buffer.alloc(20 * MIB, Buffer.from('\xff\xd8\xff\xe0\x00\x02', 'latin1'));
  const { result, mb } = await memoryOf(() =>
    documents.run(CONTENT_TASKS.readImage, bytes, new AbortController().signal),
  );
  expect(result).toMatchObject({ size: null });
  expect(mb).toBeLessThan(400);
});

it('a PDF with random damage is read, or refused with a code', async () => {
  const documents = new DocumentProcess();
  const random = new Random(1);
  const stream = deflateSync('BT /F1 12 Tf 10 10 Td (packed) Tj ET');
  const whole = pdfOf(['Hello\nworld', 'two', { filter: flat, stream }]);
  const outcomes = new Set<string>();
  for (let count = 0; count < 1_500; count++) {
    const bytes = Buffer.from(whole);
    for (let damage = 0; damage <= random.below(8); damage++) {
      bytes[5 + random.below(bytes.length - 5)] = random.below(256);
    }
    const view = { name: 'a.pdf', bytes, offset: 1, limit: undefined };
    const outcome = await documents
      .run(CONTENT_TASKS.showFile, view, new AbortController().signal)
      .then(
        () => 'read',
        (error: unknown) => (error instanceof ToolFailure ? error.code : String(error)),
      );
    outcomes.add(outcome);
  }
  expect([...outcomes].sort()).toEqual(['PDF_BROKEN', 'read']);
});
