/** Runs delete_file: one file, never a folder and never what a link leads to. */
import type { FileEditMetadata } from '../../shared/documents.ts';
import { languageOf } from '../../shared/languages.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { deleteFile } from '../../shared/tools/delete-file.ts';
import { ToolFailure } from '../failure.ts';
import { deleteImage } from '../workspace/changes.ts';
import { type ArgumentsOf, executor } from './executor.ts';

export const executeDeleteFile = executor<ArgumentsOf<typeof deleteFile>>(async (args, context) => {
  const { workspace, ledger, conversationId, signal } = context;
  const place = await workspace.resolve(args.target_file, 'write');
  if (place.isLink) {
    throw new ToolFailure(
      'NOT_A_FILE',
      `${nameInLine(place.name)} is a symbolic link: delete the file it leads to by its own path, or ask the person to remove the link.`,
    );
  }
  await deleteImage(place, { expected: ledger.hashOf(conversationId, place.path), signal });
  ledger.forget(conversationId, place.path);
  const metadata: FileEditMetadata = {
    filePath: place.name,
    operation: 'delete',
    language: languageOf(place.name),
    diff: null,
  };
  return { status: 'success', data: `Deleted ${nameInLine(place.name)}.`, metadata };
});
