/** What an editor has open, in the form that the CLIs read. Pure. */
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { COMPANION_LIMITS } from './limits.ts';

const Cursor = z.object({
  /** Counted from 1. */
  line: z.int().positive(),
  /** UTF-16 units, counted from 1. */
  character: z.int().positive(),
});

const SentOpenFile = z.object({
  /** Of a file on the disk. */
  path: z.string().refine(isAbsolute, 'it is no absolute path'),
  /** When the file had the focus last. Milliseconds since 1970. */
  timestamp: z.number().nonnegative(),
  /** Whether it has the focus now. */
  isActive: z.boolean().optional(),
  cursor: Cursor.optional(),
  selectedText: z.string().optional(),
});
type SentOpenFile = z.infer<typeof SentOpenFile>;

/** What a person sees in the editor. A field that is not known is absent, and never null. */
export const SentContext = z.object({
  openFiles: z.array(SentOpenFile),
  /** Whether the person trusts the open folders. Absent: not known. */
  isTrusted: z.boolean().optional(),
});
export type SentContext = z.infer<typeof SentContext>;

/**
 * The parameters of `ide/contextUpdate`: the newest files first, and cursor and selection of the active one only. The
 * CLIs cut by the same rules, and disconnect for good when a field has a wrong type.
 */
export function toContextUpdate({ openFiles, isTrusted }: SentContext) {
  const newest = openFiles
    .toSorted((one, other) => other.timestamp - one.timestamp)
    .slice(0, COMPANION_LIMITS.maxOpenFiles);
  return {
    workspaceState: {
      openFiles: newest.map((file, place) => (place === 0 ? activeFile(file) : otherFile(file))),
      ...(isTrusted !== undefined && { isTrusted }),
    },
  };
}

function activeFile(file: SentOpenFile): SentOpenFile {
  const { cursor, isActive, selectedText = '' } = file;
  if (isActive !== true) return otherFile(file);
  return {
    ...otherFile(file),
    isActive,
    ...(cursor && { cursor }),
    ...(selectedText !== '' && { selectedText: cut(selectedText) }),
  };
}

function otherFile({ path, timestamp }: SentOpenFile): SentOpenFile {
  return { path, timestamp };
}

/** Leaves no half of a surrogate pair at the end. */
function cut(text: string): string {
  const { maxSelectionChars } = COMPANION_LIMITS;
  if (text.length <= maxSelectionChars) return text;
  return text.slice(0, maxSelectionChars).replace(/[\uD800-\uDBFF]$/, '');
}
