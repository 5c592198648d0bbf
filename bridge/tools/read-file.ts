/** Runs read_file: shows a text file, or a part of it, with line numbers; an image as an image. */

import { compute } from '../../machine/compute/compute.ts';
import { ToolFailure } from '../../machine/failure.ts';
import type { ArgumentsOf, ToolExecutor } from '../../packages/host/index.ts';
import { readContent } from '../../packages/workspace/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { readFile } from '../../shared/tools/read-file.ts';
import { KIB } from '../../shared/units.ts';
import type { ResultImage } from '../../shared/wire/documents.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { type ImageHeader, isImage } from '../compute/image.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';

/** An image that read_file gives to the model. */
const IMAGE_LIMITS = {
  /** Bytes of the file: as base64 it fits into the metadata of a result (1 MB). */
  maxBytes: 660 * KIB,
  /** Pixels of a side: model servers refuse more. */
  maxSide: 8_000,
  /** Pixels of the whole, which a person's browser decodes into 4 bytes each: 160 MB. */
  maxPixels: 40_000_000,
} as const;

/** Reading a part counts as reading the file: the remembered hash is that of the whole file. */
export const executeReadFile: ToolExecutor<ArgumentsOf<typeof readFile>> = async (
  args,
  { places: [place], ledger, conversationId, signal },
) => {
  const file = await readContent(place, signal);
  const name = nameInLine(place.name);
  const { bytes } = file;
  const header = isImage(bytes) ? await compute(CONTENT_TASKS.readImage, bytes, signal) : null;
  if (header !== null) return showImage(place.name, bytes, header);
  const view = { name, bytes, offset: args.offset, limit: args.limit };
  const { text, range } = await compute(CONTENT_TASKS.showFile, view, signal);
  ledger.remember(conversationId, place.path, file);
  return { status: 'success', data: text, metadata: { filePath: place.name, ...range } };
};

/** The edge gives the image to a model that takes images, and a note to any other. */
function showImage(
  filePath: string,
  bytes: Uint8Array,
  { mimeType, kind, size }: ImageHeader,
): ToolResult {
  const name = nameInLine(filePath);
  if (size === null) {
    throw new ToolFailure('BROKEN_IMAGE', `${name} begins like a ${kind} image and is damaged.`);
  }
  const { width, height } = size;
  const { maxBytes, maxSide, maxPixels } = IMAGE_LIMITS;
  const what = `${name} is a ${kind} image, ${width} x ${height} pixels, ${bytes.length} bytes`;
  const isWithin = Math.max(width, height) <= maxSide && width * height <= maxPixels;
  if (!isWithin || bytes.length > maxBytes) {
    throw new ToolFailure(
      'IMAGE_TOO_LARGE',
      `${what}: at most ${maxBytes} bytes, ${maxSide} pixels a side and ${maxPixels} pixels are read. Make a smaller ` +
        'copy with a command, and read that.',
    );
  }
  const images: ResultImage[] = [{ mimeType, data: Buffer.from(bytes).toString('base64') }];
  const data = `${what}. The image follows the results.`;
  return { status: 'success', data, metadata: { filePath, images } };
}
