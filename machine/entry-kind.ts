/** The kind of an entry of a folder. Links are not followed. */
export type EntryKind = 'file' | 'folder' | 'link' | 'other';

/** The kind of an entry, from its stats or directory entry. */
export function kindOf(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): EntryKind {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}
