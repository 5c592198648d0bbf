/** Runs delete_file: deletes one file, never a folder and never the target of a link. */

import { ToolFailure } from '../../machine/failure.ts';
import {
  type ArgumentsOf,
  type Proposed,
  type ToolContext,
  type ToolWork,
  toWrite,
  whyAsked,
} from '../../packages/host/index.ts';
import {
  deleteFileAt,
  type FileContent,
  type ResolvedPath,
  readContent,
  staleFailure,
} from '../../packages/workspace/index.ts';
import { languageOf } from '../../shared/text/languages.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { deleteFile } from '../../shared/tools/delete-file.ts';
import type { FileEditMetadata } from '../../shared/wire/documents.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';

export const deleting: ToolWork<ArgumentsOf<typeof deleteFile>> = {
  propose: async (args, context) => {
    const place = toWrite(context.places[0]);
    assertNoLink(place);
    const { ledger, conversationId, workspace } = context;
    const before = await readIfReadable(place, context);
    const seen = ledger.hashOf(conversationId, place.path);
    if (seen !== null && seen !== before?.hash) throw staleFailure(place);
    const result = resultOf(place);
    const apply: Proposed['apply'] = async ({ keep, signal }) => {
      await deleteFileAt(place, { expected: before?.hash ?? null, keep, signal });
      ledger.forget(conversationId, place.path);
      return result;
    };
    const { name: tool } = deleteFile;
    const asks = whyAsked(before?.bytes ?? null, context);
    if (before === null) return { proposal: { kind: 'call', tool, arguments: args }, asks, apply };
    const hashes = { beforeHash: before.hash, afterHash: null };
    const path = workspace.nameOf(place.path);
    return {
      proposal: { kind: 'edit', tool, path, operation: 'delete', diff: [], ...hashes },
      change: { ...hashes, result },
      asks,
      apply,
    };
  },
};

/** Null for a file that is too large or may not be read. It can still be deleted. */
async function readIfReadable(
  place: ResolvedPath,
  { signal }: ToolContext,
): Promise<FileContent | null> {
  try {
    return await readContent(place, signal);
  } catch (error) {
    if (error instanceof ToolFailure && UNREADABLE.has(error.code)) return null;
    throw error;
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['FILE_TOO_LARGE', 'NOT_PERMITTED']);

function assertNoLink(place: ResolvedPath): void {
  if (!place.isLink) return;
  throw new ToolFailure(
    'NOT_A_FILE',
    `${nameInLine(place.name)} is a symbolic link: delete the file it leads to by its own path, or ask the person to remove the link.`,
  );
}

function resultOf({ name }: ResolvedPath): ToolResult {
  const metadata: FileEditMetadata = {
    filePath: name,
    operation: 'delete',
    language: languageOf(name),
    diff: null,
  };
  return { status: 'success', data: `Deleted ${nameInLine(name)}.`, metadata };
}
