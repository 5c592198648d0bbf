/** A folder that an agent works in: where a path leads, what lies there, and what of it is closed. */
export { anchorFolder } from './anchor.ts';
export {
  assertReplaceable,
  type DiskEntry,
  deleteEmptyFolders,
  deleteFileAt,
  type KeepChange,
  type KeptFile,
  moveFileAt,
  readEntryAt,
  replaceFileAt,
  restoreAt,
  staleFailure,
} from './changes.ts';
export { linkedGit, linkedGitFolders } from './closed/git-folders.ts';
export {
  type IndexEntry,
  namedFolder,
  readIndex,
  readText,
  settleIndex,
} from './closed/git-index.ts';
export { type ProtectedLink, protectedLinks, withLinkedPlaces } from './closed/linked-places.ts';
export {
  type Closure,
  closureOf,
  looksLikeRepository,
  REPOSITORY_SETTINGS,
} from './closed/protected.ts';
export { AGENT_FOLDERS, PROTECTED_IN_GITHUB, PROTECTED_KINDS } from './closed/protected-kinds.ts';
export {
  type ClosedEntries,
  type ClosedEntry,
  canBeLookedInto,
  identityOf,
  type Rights,
  type ScanOptions,
  WorkspaceScan,
} from './closed/scan.ts';
export { BACKUP_ENDS, EXAMPLE_FILES, SECRET_NAMES } from './closed/secret-names.ts';
export { type ClosedToGit, closedToGit } from './closed-to-git.ts';
export {
  type FileContent,
  type FolderEntry,
  readContent,
  readContentIfAny,
  readEntries,
  readPart,
  readStamp,
} from './files.ts';
export {
  type IgnoreFile,
  INDEX_IGNORE_FILES,
  SECRET_IGNORE_FILES,
  TOOL_IGNORE_FILES,
} from './ignored/chain.ts';
export { IgnoredPaths } from './ignored/ignored-paths.ts';
export { rulesFromAbove, rulesFromBelow } from './ignored/rules.ts';
export { FOLDER_LIMITS } from './limits.ts';
export { inHeld, isAt } from './tree/held.ts';
export { TREE_LIMITS } from './tree/limits.ts';
export { isSameStamp, isSettled, type Stamp, stampOf, stampText } from './tree/stamp.ts';
export { Tree, type TreeFolder } from './tree/tree.ts';
export { type Access, type ResolvedPath, Workspace, WorkspaceError } from './workspace.ts';
