/** Images that a person adds to a message. */
import { REQUEST_LIMITS } from '../../shared/limits.ts';

export interface Picture {
  /** A data URL of a type that models take. */
  readonly url: string;
  readonly name: string;
}

/** The longest side that models see more of, in pixels; a photo of a phone is larger than a request may be. */
const MAX_SIDE = 1_568;
const QUALITY = 0.85;

/** The images of a paste, a drop or a file chooser, made small enough. Skips what this browser cannot show. */
export async function picturesIn(files: Iterable<File>): Promise<Picture[]> {
  const images = [...files].filter(({ type }) => /^image\/(png|jpeg|webp|gif)$/.test(type));
  const pictures = await Promise.all(images.map((file) => pictureOf(file).catch(() => undefined)));
  return pictures.filter((picture) => picture !== undefined);
}

async function pictureOf(file: File): Promise<Picture> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const type = file.type === 'image/png' && scale === 1 ? 'image/png' : 'image/jpeg';
  return { url: canvas.toDataURL(type, QUALITY), name: file.name };
}

/** Whether a message with these images fits into a request. */
export function fits(text: string, pictures: readonly Picture[]): boolean {
  const size = pictures.reduce((sum, { url }) => sum + url.length, text.length);
  return size < REQUEST_LIMITS.maxBodyBytes * FILLED;
}

/** The rest is for the other fields, and for characters of several bytes. */
const FILLED = 0.9;
