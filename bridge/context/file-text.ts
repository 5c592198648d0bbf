/** Reads files of the workspace for the prompt, as read_file shows them. */

import { compute } from '../../machine/compute/compute.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { type ResolvedPath, readPart, type Workspace } from '../../packages/workspace/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { ShownLines } from '../compute/file-view.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { FIND_LIMITS } from './limits.ts';

/** What may be shown of the workspace, by the policy of this moment. */
export interface Reading {
  /** The workspace without the paths that may not be named without a question. */
  readonly nameable: Workspace;
  /** The workspace without the paths that the model could not read without a question. */
  readonly readable: Workspace;
  readonly signal: AbortSignal;
}

export interface TextWindow {
  readonly offset?: number;
  readonly limit?: number;
  /** UTF-16 units of the text, with the notes on what is left out. */
  readonly maxChars: number;
}

/** Lines with their numbers. Throws a {@link ToolFailure} for a file that cannot be shown. */
export async function readLines(
  place: ResolvedPath,
  { offset, limit, maxChars }: TextWindow,
  { signal }: Pick<Reading, 'signal'>,
): Promise<ShownLines> {
  const name = nameInLine(place.name);
  const bytes = await readSmall(place);
  const room = Math.max(0, maxChars - FIND_LIMITS.noteChars);
  return await compute(
    CONTENT_TASKS.showFile,
    { name, bytes, offset, limit, maxChars: room },
    signal,
  );
}

/** The whole file. Throws a {@link ToolFailure} for one of more than FIND_LIMITS.maxFileBytes. */
export async function readSmall(place: ResolvedPath): Promise<Uint8Array> {
  const { maxFileBytes } = FIND_LIMITS;
  const bytes = await readPart(place, { offset: 0, length: maxFileBytes + 1 });
  if (bytes.length <= maxFileBytes) return bytes;
  throw new ToolFailure(
    'FILE_TOO_LARGE',
    `${nameInLine(place.name)} has more than ${maxFileBytes} bytes: read a part of it with read_file, or search it with grep.`,
  );
}
