/** Reads the files that the person looks at, in the editor of the request or of this machine. */

import { ToolFailure } from '../../machine/failure.ts';
import type { ResolvedPath } from '../../packages/workspace/index.ts';
import { FINDING_LIMITS } from '../../shared/limits.ts';
import type { Findings, MessageLook } from '../../shared/wire/findings.ts';
import type { EditorContext } from '../../shared/wire/tunnel.ts';
import { type Reading, readLines } from './file-text.ts';
import { FIND_LIMITS } from './limits.ts';

type FileOnScreen = NonNullable<MessageLook['shown']>[number];
type FoundOpenFile = Findings['openFiles'][number];

/** The editor's files, the one with the focus first. */
export function shownBy(editor: EditorContext | undefined): FileOnScreen[] {
  const files = [...(editor?.openFiles ?? [])];
  files.sort((a, b) => Number(b.isActive ?? false) - Number(a.isActive ?? false));
  return files.map(({ path, cursor }) => ({ path, ...(cursor && { line: cursor.line }) }));
}

/**
 * The first file gets the most room. Files that are not there, not text, or not to be read without a question are left
 * out: the editor's context has their names.
 */
export async function readShown(
  files: readonly FileOnScreen[],
  reading: Reading,
): Promise<FoundOpenFile[]> {
  const { maxShownFiles, maxFileChars } = FINDING_LIMITS;
  const read = await Promise.all(
    files
      .slice(0, maxShownFiles)
      .map((file, index) =>
        readOne(file, index === 0 ? maxFileChars : FIND_LIMITS.maxRecentChars, reading),
      ),
  );
  const found = read.filter((file) => file !== null);
  return [...new Map(found.map((file) => [file.path, file])).values()];
}

async function readOne(
  { path, line }: FileOnScreen,
  maxChars: number,
  reading: Reading,
): Promise<FoundOpenFile | null> {
  try {
    const place = await reading.readable.resolve(path, 'read');
    return { path: place.name, text: await textAround(place, line, maxChars, reading) };
  } catch (error) {
    reading.signal.throwIfAborted();
    if (error instanceof ToolFailure) return null;
    throw error;
  }
}

/** The file from its start; from a line before the cursor where the start does not reach it. */
async function textAround(
  place: ResolvedPath,
  line: number | undefined,
  maxChars: number,
  reading: Reading,
): Promise<string> {
  const { text, range } = await readLines(place, { maxChars }, reading);
  const isReached = line === undefined || line <= range.endLine || line > range.totalLines;
  if (isReached) return text;
  const { cursorStep } = FIND_LIMITS;
  const offset = Math.floor((line - 1) / cursorStep) * cursorStep + 1;
  return (await readLines(place, { offset, maxChars }, reading)).text;
}
