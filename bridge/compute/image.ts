/**
 * The kind and the size of an image, from the first bytes of its file. Own code, because it must take time linear in a
 * hostile file: the known library copies the rest of a JPEG for each of its segments.
 */
import type { ResultImage } from '../../shared/wire/documents.ts';

export interface ImageHeader {
  readonly mimeType: ResultImage['mimeType'];
  /** For people. */
  readonly kind: string;
  /** Pixels. Null where the header is broken. */
  readonly size: ImageSize | null;
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Whether the file is an image of these kinds, whatever its name. A text can begin with the mark of one (`GIF89a=1` is
 * JavaScript); unlike any image it has no byte 0.
 */
export function isImage(bytes: Uint8Array): boolean {
  return formatOf(bytes) !== undefined && bytes.includes(0);
}

/** Null for a file that {@link isImage} does not take. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | null {
  const format = formatOf(bytes);
  if (format === undefined || !bytes.includes(0)) return null;
  const { mimeType, kind, sizeOf } = format;
  return { mimeType, kind, size: sizeWithin(bytes, sizeOf) };
}

function formatOf(bytes: Uint8Array): ImageFormat | undefined {
  return FORMATS.find(({ marks }) =>
    marks.every(({ at, text }) => textAt(bytes, at, text.length) === text),
  );
}

interface ImageFormat extends Omit<ImageHeader, 'size'> {
  /** What every file of the format has, at which byte. */
  readonly marks: readonly { readonly at: number; readonly text: string }[];
  /** Throws a RangeError for a file that ends too soon. */
  readonly sizeOf: (view: DataView) => ImageSize | null;
}

const FORMATS: readonly ImageFormat[] = [
  {
    mimeType: 'image/png',
    kind: 'PNG',
    marks: [{ at: 0, text: '\x89PNG\r\n\x1a\n' }],
    sizeOf: (view) =>
      view.getUint32(12) === HEADER_CHUNK
        ? { width: view.getUint32(16), height: view.getUint32(20) }
        : null,
  },
  {
    mimeType: 'image/gif',
    kind: 'GIF',
    marks: [{ at: 0, text: 'GIF8' }],
    sizeOf: (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  },
  {
    mimeType: 'image/jpeg',
    kind: 'JPEG',
    marks: [{ at: 0, text: '\xff\xd8\xff' }],
    sizeOf: sizeOfJpeg,
  },
  {
    mimeType: 'image/webp',
    kind: 'WebP',
    marks: [
      { at: 0, text: 'RIFF' },
      { at: 8, text: 'WEBP' },
    ],
    sizeOf: sizeOfWebp,
  },
];

/** `IHDR`, which comes first in every PNG. */
const HEADER_CHUNK = 0x49484452;

/** Goes from segment to segment up to the one with the frame's size. */
function sizeOfJpeg(view: DataView): ImageSize | null {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    // Any number of these may fill the space before a marker.
    if (marker === 0xff) at++;
    else if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.has(marker)) {
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    } else at += 2 + view.getUint16(at + 2);
  }
  return null;
}

/** Tables among the markers of frames. */
const NO_FRAME: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

/** With losses, without, or in the extended form, as the first chunk says. */
function sizeOfWebp(view: DataView): ImageSize | null {
  const [low, high] = [view.getUint16(26, true), view.getUint16(28, true)];
  switch (view.getUint8(15)) {
    case 0x20:
      return { width: low & 0x3fff, height: high & 0x3fff };
    case 0x4c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x58: {
      const three = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
      return { width: three(24) + 1, height: three(27) + 1 };
    }
    default:
      return null;
  }
}

function sizeWithin(bytes: Uint8Array, sizeOf: ImageFormat['sizeOf']): ImageSize | null {
  try {
    const size = sizeOf(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return size !== null && size.width > 0 && size.height > 0 ? size : null;
  } catch (error) {
    if (error instanceof RangeError) return null; // The file ends within its header.
    throw error;
  }
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}
