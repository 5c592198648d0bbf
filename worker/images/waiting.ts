/** The large images of a request, while they wait for its conversation. */
import { DrawbridgeError } from '../../shared/errors.ts';
import type { HeldImage } from './marker.ts';

export interface WaitingImages {
  /** The object that holds them; undefined where there are none. */
  readonly id: string | undefined;
  /** The base64 of an image that is small enough for a row. @throws {DrawbridgeError} as {@link unknownImage} */
  contentOf(image: HeldImage): Promise<string>;
  /** Gives them up. Never throws: what stays goes after `waitMs`. */
  drop(): Promise<void>;
}

/** For a marker that no request of ours has made, or whose image is gone. */
export function unknownImage(): DrawbridgeError {
  const message = 'There is no such image: send it again, as data:image/…;base64,…';
  return new DrawbridgeError('INVALID_REQUEST', message);
}
