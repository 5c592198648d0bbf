/** Reads image files into the form that a message carries. */
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { isSystemError } from '../../machine/system-error.ts';
import type { ImagePart } from '../../shared/api/requests.ts';
import { IMAGE_LIMITS } from '../../shared/limits.ts';
import { CLI_LIMITS } from '../limits.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Base64 writes three bytes as four characters. The rest of the request needs room too. */
const MAX_IMAGE_BYTES = Math.floor(
  ((IMAGE_LIMITS.maxBodyBytes - CLI_LIMITS.besideImageBytes) * 3) / 4,
);

/** Reads an image, whose first bytes decide its type, into a data URL. @throws {UsageError} if it cannot be sent. */
export async function readImage(path: string): Promise<ImagePart> {
  return toImagePart(await readBounded(path), path);
}

/** An image as a message carries it, by its first bytes. @throws {UsageError} that names it, if it cannot be sent. */
export function toImagePart(bytes: Buffer, name: string): ImagePart {
  if (bytes.length > MAX_IMAGE_BYTES) {
    const most = (MAX_IMAGE_BYTES / BYTES_PER_MB).toFixed(1);
    throw new UsageError(`The image ${name} is too large: it may have at most ${most} MB.`);
  }
  const type = imageTypeOf(bytes);
  if (!type) throw new UsageError(`${name} is not an image: use a PNG, JPEG, WebP or GIF file.`);
  return {
    type: 'image_url',
    image_url: { url: `data:image/${type};base64,${bytes.toString('base64')}` },
  };
}

/** Reads at most one byte more than allowed, which shows that a file is too large. A pipe has no size to look at. */
async function readBounded(path: string): Promise<Buffer> {
  try {
    return await buffer(createReadStream(path, { end: MAX_IMAGE_BYTES }));
  } catch (cause) {
    const why = isSystemError(cause, 'ENOENT') ? 'there is no such file' : String(cause);
    throw new UsageError(`The image ${path} cannot be read: ${why}.`, { cause });
  }
}

type ImageType = 'png' | 'jpeg' | 'webp' | 'gif';

function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const start = bytes.toString('latin1', 0, SIGNATURE_BYTES);
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (/^GIF8[79]a/.test(start)) return 'gif';
  return /^RIFF.{4}WEBP/s.test(start) ? 'webp' : undefined;
}

const SIGNATURE_BYTES = 12;

const BYTES_PER_MB = 1_000_000;
