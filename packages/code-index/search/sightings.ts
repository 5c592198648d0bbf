/**
 * Checks the matches of a search. ripgrep opens files by name. Between its look at a name and the opening, a running
 * command can put a link there that leads anywhere. So a match counts only when we find it in the workspace's file
 * ourselves.
 */

import { compute } from '../../../machine/compute/compute.ts';
import { nullForFailure, ToolFailure } from '../../../machine/failure.ts';
import { EDIT_TASKS } from '../../edits/tasks.ts';
import { hasMark } from '../../edits/text.ts';
import { type ResolvedPath, readContent, readPart, type Workspace } from '../../workspace/index.ts';

/** Bytes that a search claims to be in a file. */
export interface Sighting {
  /** Absolute. */
  readonly path: string;
  /** Counted as ripgrep does: in the text as UTF-8, without byte order mark. */
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Keeps the file of its last check, because a search reports one file after another. Each search has its own. */
export class Sightings {
  readonly #workspace: Workspace;
  readonly #signal: AbortSignal;
  #path = '';
  #file: SightedFile = null;

  constructor(workspace: Workspace, signal: AbortSignal) {
    this.#workspace = workspace;
    this.#signal = signal;
  }

  async confirm({ path, offset, bytes }: Sighting): Promise<boolean> {
    const there = await this.read(path, offset, bytes.length);
    return there !== null && bytes.equals(there);
  }

  /** Bytes of the workspace's file, fewer at its end; null where it may not be read. */
  async read(path: string, offset: number, length: number): Promise<Uint8Array | null> {
    if (path !== this.#path) {
      this.#file = await this.#look(path);
      this.#path = path;
    }
    const file = this.#file;
    if (file === null) return null;
    return Buffer.isBuffer(file)
      ? file.subarray(offset, offset + length)
      : await readPart(file, { offset, length }).catch(nullForFailure);
  }

  async #look(path: string): Promise<SightedFile> {
    const place = await this.#workspace.resolve(path, 'read').catch(nullForFailure);
    if (place === null) return null;
    try {
      return await this.#searched((await readContent(place, this.#signal)).bytes);
    } catch (error) {
      if (error instanceof ToolFailure && error.code === 'FILE_TOO_LARGE') return place;
      return nullForFailure(error);
    }
  }

  async #searched(bytes: Uint8Array): Promise<Buffer> {
    const seen = hasMark(bytes)
      ? await compute(EDIT_TASKS.transcode, { bytes }, this.#signal)
      : null;
    const { buffer, byteOffset, length } = seen ?? bytes;
    return Buffer.from(buffer, byteOffset, length);
  }
}

/** The bytes as ripgrep sees them, the place of a file too large to hold, or null for a file that cannot be read. */
type SightedFile = Buffer | ResolvedPath | null;
