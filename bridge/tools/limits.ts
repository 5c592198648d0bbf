/** The limits of what the tools give to a model besides text. */
import { KIB } from '../../shared/units.ts';

/** An image that read_file gives to the model. */
export const IMAGE_LIMITS = {
  /** Bytes of the file: as base64 it fits into the metadata of a result (1 MB). */
  maxBytes: 660 * KIB,
  /** Pixels of a side: model servers refuse more. */
  maxSide: 8_000,
  /** Pixels of the whole, which a person's browser decodes into 4 bytes each: 160 MB. */
  maxPixels: 40_000_000,
} as const;
