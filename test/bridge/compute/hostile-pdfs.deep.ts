/** PDFs that unpack to gigabytes or never end: reading them ends in bounded time and memory. */
import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { COMPUTE_LIMITS } from '../../../bridge/compute/limits.ts';
import { ComputeThread } from '../../../bridge/compute/thread.ts';
import { ToolFailure } from '../../../bridge/failure.ts';
import { GIB, MIB } from '../../../shared/units.ts';
import { randomOf } from '../notebooks/notebooks.ts';
import { type Page, pdfOf } from './pdf.ts';

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

it.each(HOSTILE)('a PDF of %s is read in part or refused', async (_, pages) => {
  const thread = new ComputeThread();
  const view = { name: 'a.pdf', bytes: pdfOf(pages), offset: 1, limit: undefined };
  const before = process.memoryUsage.rss();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before);
  }, 20);
  const begun = performance.now();
  const outcome = await thread.run('showFile', view, new AbortController().signal).then(
    ({ range }) => range.endLine,
    (error: unknown) => error instanceof ToolFailure && error.code,
  );
  clearInterval(watch);
  expect(['TOO_COMPLEX', 1]).toContain(outcome);
  expect(performance.now() - begun).toBeLessThan(2 * COMPUTE_LIMITS.maxMs);
  expect(most / MIB).toBeLessThan(COMPUTE_LIMITS.maxGrowthMb + 512);
  // The next task gets a new thread.
  const plain = { ...view, bytes: pdfOf(['text']) };
  expect(await thread.run('showFile', plain, new AbortController().signal)).toMatchObject({
    text: '[page 1 of 1]\ntext',
  });
});

it('a PDF with random damage is read, or refused with a code', async () => {
  const thread = new ComputeThread();
  const random = randomOf(1);
  const stream = deflateSync('BT /F1 12 Tf 10 10 Td (packed) Tj ET');
  const whole = pdfOf(['Hello\nworld', 'two', { filter: flat, stream }]);
  const outcomes = new Set<string>();
  for (let count = 0; count < 1_500; count++) {
    const bytes = Buffer.from(whole);
    for (let damage = 0; damage <= random(8); damage++) {
      bytes[5 + random(bytes.length - 5)] = random(256);
    }
    const view = { name: 'a.pdf', bytes, offset: 1, limit: undefined };
    const outcome = await thread.run('showFile', view, new AbortController().signal).then(
      () => 'read',
      (error: unknown) => (error instanceof ToolFailure ? error.code : String(error)),
    );
    outcomes.add(outcome);
  }
  expect([...outcomes].sort()).toEqual(['PDF_BROKEN', 'read']);
});
