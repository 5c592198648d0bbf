/**
 * Checks what a search has seen. ripgrep opens files by name, and between its look at a name and the opening a command
 * at work can put a link there that leads anywhere: only what we find in the file ourselves is of the workspace.
 */

import { compute } from '../compute/compute.ts';
import { hasMark } from '../edits/transcode.ts';
import { ToolFailure } from '../failure.ts';
import { readImage, readPart } from '../workspace/files.ts';
import type { Place, Workspace } from '../workspace/workspace.ts';

/** Bytes that a search says stand in a file. */
export interface Sighting {
  /** Absolute. */
  readonly path: string;
  /** Counted as ripgrep does it: in the text without byte order mark, as UTF-8. */
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Holds the file it looked at last, for a search tells of one after the other. One for each search. */
export class Sightings {
  readonly #workspace: Workspace;
  readonly #signal: AbortSignal;
  #path = '';
  #file: SeenFile = null;

  constructor(workspace: Workspace, signal: AbortSignal) {
    this.#workspace = workspace;
    this.#signal = signal;
  }

  async confirm({ path, offset, bytes }: Sighting): Promise<boolean> {
    if (path !== this.#path) {
      this.#file = await this.#look(path);
      this.#path = path;
    }
    const file = this.#file;
    if (file === null) return false;
    const there = Buffer.isBuffer(file)
      ? file.subarray(offset, offset + bytes.length)
      : await readPart(file, { offset, length: bytes.length }).catch(nullForFailure);
    return there !== null && bytes.equals(there);
  }

  async #look(path: string): Promise<SeenFile> {
    const place = await this.#workspace.resolve(path, 'read').catch(nullForFailure);
    if (place === null) return null;
    try {
      return await this.#searched((await readImage(place, this.#signal)).bytes);
    } catch (error) {
      if (error instanceof ToolFailure && error.code === 'FILE_TOO_LARGE') return place;
      return nullForFailure(error);
    }
  }

  async #searched(bytes: Uint8Array): Promise<Buffer> {
    const seen = hasMark(bytes) ? await compute('transcode', { bytes }, this.#signal) : null;
    const { buffer, byteOffset, length } = seen ?? bytes;
    return Buffer.from(buffer, byteOffset, length);
  }
}

/** The bytes as ripgrep sees them, the place of a file too large to be held, or null where there is none to see. */
type SeenFile = Buffer | Place | null;

/** Gone, or never ours to show. */
function nullForFailure(error: unknown): null {
  if (error instanceof ToolFailure) return null;
  throw error;
}
