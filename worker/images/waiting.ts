/** The large images of a request, while they wait for its conversation. */
import { DrawbridgeError } from '../../shared/errors.ts';
import type { HeldImage } from './marker.ts';

export interface WaitingImages {
  /** Undefined while no image was held. */
  readonly place: WaitingPlace | undefined;
  /** The characters of base64 that are held. */
  readonly chars: number;
  /** The base64 of an image that is small enough for a row. @throws {DrawbridgeError} as {@link unknownImage} */
  contentOf(image: HeldImage): Promise<string>;
  /** Gives them up: the request is over. */
  end(): void;
}

/** Where the images of a request are. */
export interface WaitingPlace {
  /** The object that holds them. */
  readonly id: string;
  /** The markers that the request's own images have left. */
  readonly markers: readonly string[];
}

/** For a marker that no image of the request has left. */
export function unknownImage(): DrawbridgeError {
  const message = 'There is no such image: send it again, as data:image/…;base64,…';
  return new DrawbridgeError('INVALID_REQUEST', message);
}
