/** What read_file gives of files that are no text: images and PDFs. */
import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../../../bridge/compute/image.ts';
import { ToolCallMetadata } from '../../../shared/wire/documents.ts';
import { cpuMsOf } from '../../cpu-time.ts';
import { pdfOf } from '../compute/pdf.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  );

const png = (width: number, height: number) => {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), size, bytes([8, 6, 0, 0, 0])]);
};
const gif = bytes('GIF89a', [4, 1, 2, 0], 'rest');
const jpeg = bytes(
  [0xff, 0xd8],
  [0xff, 0xe0, 0, 4, 0, 0],
  [0xff, 0xff, 0xc4, 0, 2],
  [...[0xff, 0xc2, 0, 11, 8], ...[0, 2, 1, 4, 1, 0, 0, 0]],
);
const webp = (form: string, ...rest: number[]) =>
  bytes('RIFF\0\0\0\0WEBP', `VP8${form}`, [0, 0, 0, 0], rest);
const lossy = webp(' ', ...[0, 0, 0, 0x9d, 0x01, 0x2a], ...[4, 1, 2, 0]);
const lossless = webp('L', 0x2f, ...[0x03, 0x41, 0x00, 0x00], ...[0, 0, 0, 0, 0]);
const extended = webp('X', ...[0, 0, 0, 0], ...[3, 1, 0], ...[1, 0, 0]);

const IMAGES = [
  ['a.png', 'PNG', 'image/png', png(260, 2)],
  ['b.gif', 'GIF', 'image/gif', gif],
  ['c.jpg', 'JPEG', 'image/jpeg', jpeg],
  ['d.webp', 'WebP', 'image/webp', lossy],
  ['e.webp', 'WebP', 'image/webp', lossless],
  ['f.webp', 'WebP', 'image/webp', extended],
  ['no-name', 'PNG', 'image/png', png(260, 2)],
] as const;

describe('an image', () => {
  it.each(IMAGES)('%s is given as an image', async (name, kind, mimeType, content) => {
    const { call } = await temporaryWorkspace({ [name]: content });
    const result = await call('read_file', { target_file: name });
    const size = `260 x 2 pixels, ${content.length} bytes`;
    expect(result).toEqual({
      status: 'success',
      data: `${name} is a ${kind} image, ${size}. The image follows the results.`,
      metadata: { filePath: name, images: [{ mimeType, data: content.toString('base64') }] },
    });
    expect(ToolCallMetadata.pick({ images: true }).safeParse(result.metadata).success).toBe(true);
  });

  it.each(IMAGES)('%s that is cut anywhere is refused, or read as it is', (_, __, ___, content) => {
    for (let length = 0; length < content.length; length++) {
      const size = readImageHeader(content.subarray(0, length))?.size ?? null;
      if (size !== null) expect(size).toEqual({ width: 260, height: 2 });
    }
  });

  it.each([
    ['a damaged one', png(260, 2).subarray(0, 18), 'BROKEN_IMAGE'],
    ['one without pixels', png(0, 2), 'BROKEN_IMAGE'],
    ['a JPEG of nothing but segments', bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0]), 'BROKEN_IMAGE'],
    [
      'a PNG without its header',
      Buffer.concat([png(260, 2).subarray(0, 12), bytes('IDAT'), png(260, 2).subarray(16)]),
      'BROKEN_IMAGE',
    ],
    ['a side of 50,000 pixels', png(50_000, 10), 'IMAGE_TOO_LARGE'],
    ['64 million pixels', png(8_000, 8_000), 'IMAGE_TOO_LARGE'],
    ['1 MB', Buffer.concat([png(10, 10), Buffer.alloc(2 ** 20)]), 'IMAGE_TOO_LARGE'],
  ])('is refused: %s', async (_, content, code) => {
    const { codeOf } = await temporaryWorkspace({ 'a.png': content });
    expect(await codeOf('read_file', { target_file: 'a.png' })).toBe(code);
  });

  it('is read as the text that it is, where only its first characters are those of an image', async () => {
    const { call } = await temporaryWorkspace({ 'a.js': 'GIF89a=1;\nalert(GIF89a)\n' });
    const { data, metadata } = await call('read_file', { target_file: 'a.js' });
    expect(data).toBe('1|GIF89a=1;\n2|alert(GIF89a)');
    expect(metadata).not.toHaveProperty('images');
  });

  it('is read in time that grows with its length alone', () => {
    const segments = Buffer.alloc(660 * 1_024, Buffer.from([0xff, 0xe0, 0, 0]));
    const hostile = Buffer.concat([bytes([0xff, 0xd8]), segments]);
    const cpuMs = cpuMsOf(() => expect(readImageHeader(hostile)?.size).toBeNull());
    expect(cpuMs).toBeLessThan(500);
  });
});

describe('a PDF', () => {
  const pages = Array.from({ length: 60 }, (_, at) => `Text (of)\npage ${at + 1}`);
  const files = { 'a.pdf': pdfOf(pages.slice(0, 2)), 'long.pdf': pdfOf(pages), b: pdfOf(['']) };

  it('is given as its text, by pages', async () => {
    const { call } = await temporaryWorkspace(files);
    const read = async (target_file: string, more = {}) =>
      (await call('read_file', { target_file, ...more })).data;
    expect(await read('a.pdf')).toBe(
      '[page 1 of 2]\nText (of)\npage 1\n\n[page 2 of 2]\nText (of)\npage 2',
    );
    expect(await read('long.pdf', { offset: 59, limit: 1 })).toBe(
      '[page 59 of 60]\nText (of)\npage 59\n(Pages 59 to 59 of 60. Read on with offset 60.)',
    );
    expect(await read('long.pdf', { offset: -1 })).toContain('[page 60 of 60]');
    expect(await read('long.pdf')).toContain('(Pages 1 to 50 of 60. Read on with offset 51.)');
    expect(await read('b')).toBe('[page 1 of 1]\n(no text: an image, or a scan)');
    expect(await read('a.pdf', { offset: 3 })).toContain('has 2 pages, so there is no page 3');
  });

  it('is cut to what a result holds', async () => {
    const stream = Buffer.from(
      `BT /F1 9 Tf 72 720 Td 0.01 TL ${'(some words of it) Tj T* '.repeat(4_000)} ET`,
    );
    const full = pdfOf([{ filter: '', stream }, 'second']);
    const { call } = await temporaryWorkspace({ 'a.pdf': full });
    const { data } = await call('read_file', { target_file: 'a.pdf' });
    expect(data).toMatch(/\n\(cut\)\n\(Pages 1 to 1 of 2\. Read on with offset 2\.\)$/);
    expect(data.length).toBeLessThan(51_000);
  });

  it('is refused where it is damaged, or needs a password', async () => {
    const key = `(${'k'.repeat(32)})`;
    const lock = `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -4 >> /ID [(a) (a)]`;
    const { codeOf } = await temporaryWorkspace({
      'locked.pdf': pdfOf(['secret'], lock),
      'a.pdf': '%PDF-1.4\nrubbish',
      'b.pdf': '%PDF-',
    });
    expect(await codeOf('read_file', { target_file: 'locked.pdf' })).toBe('PDF_LOCKED');
    expect(await codeOf('read_file', { target_file: 'a.pdf' })).toBe('PDF_BROKEN');
    expect(await codeOf('read_file', { target_file: 'b.pdf' })).toBe('PDF_BROKEN');
  });
});
