/** Runs rename_file: renames one file. Never renames a folder or the target of a link, and never overwrites. */
import { basename } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { type ArgumentsOf, type ToolExecutor, toWrite } from '../../packages/host/index.ts';
import { moveFileAt, type ResolvedPath } from '../../packages/workspace/index.ts';
import { languageOf } from '../../shared/text/languages.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { renameFile } from '../../shared/tools/rename-file.ts';
import type { FileEditMetadata } from '../../shared/wire/documents.ts';

export const executeRenameFile: ToolExecutor<ArgumentsOf<typeof renameFile>> = async (
  _,
  { places, ledger, keep, conversationId, signal },
) => {
  const [from, to] = places.map(toWrite);
  if (!from || !to) throw new Error('A rename has two places.');
  assertMovable(from, to);
  const expected = ledger.hashOf(conversationId, from.path);
  const path = await moveFileAt(from, to, { expected, keep, signal });
  ledger.move(conversationId, from.path, path);
  const metadata: FileEditMetadata = {
    filePath: from.name,
    newPath: to.name,
    operation: 'rename',
    language: languageOf(to.name),
    diff: null,
  };
  const data = `Renamed ${nameInLine(from.name)} to ${nameInLine(to.name)}.`;
  return { status: 'success', data, metadata };
};

function assertMovable(from: ResolvedPath, to: ResolvedPath): void {
  if (from.isLink) {
    throw new ToolFailure(
      'NOT_A_FILE',
      `${nameInLine(from.name)} is a symbolic link: rename the file it leads to by its own path, or ask the person to move the link.`,
    );
  }
  if (to.isLink) {
    throw new ToolFailure(
      'FILE_EXISTS',
      `${nameInLine(to.name)} is a symbolic link, and nothing is overwritten: choose another name.`,
    );
  }
  // On a file system that ignores case both names lead to the same file. A change of case is still a new name.
  if (from.path === to.path && basename(from.name) === basename(to.name)) {
    throw new ToolFailure('NO_CHANGE', `${nameInLine(from.name)} has that name already.`);
  }
}
