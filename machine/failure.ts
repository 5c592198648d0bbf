/** The expected failure of a call. It is thrown where it is found and becomes a result in packages/host/tool.ts. */
import { nameInLine } from '../shared/text/plain-sight.ts';
import type { Metadata } from '../shared/wire/documents.ts';

/** `code` is for programs, in UPPER_SNAKE. The message is for the model: what was expected, what came and what to do. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly code: string;
  /** For the call's document, beside the failure. */
  readonly metadata: Metadata | undefined;

  constructor(
    code: string,
    message: string,
    { metadata, ...options }: { cause?: unknown; metadata?: Metadata } = {},
  ) {
    super(message, options);
    this.code = code;
    this.metadata = metadata;
  }
}

/** Null for the expected failure of a promise that is caught. Any other error is thrown on. */
export function nullForFailure(error: unknown): null {
  if (error instanceof ToolFailure) return null;
  throw error;
}

/** The failure for an error of the file system. Any other error is a bug and is returned unchanged. */
export function toFileFailure(thrown: unknown, name: string): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const [failure, sentence] = FILE_FAILURES[code] ?? [];
  if (failure === undefined || thrown instanceof ToolFailure) return thrown;
  return new ToolFailure(failure, `${nameInLine(name)} ${sentence}`, { cause: thrown });
}

const FILE_FAILURES: Readonly<Record<string, readonly [code: string, sentence: string]>> = {
  ENOENT: [
    'FILE_NOT_FOUND',
    'does not exist: look for its path with glob_file_search or list_dir.',
  ],
  ENOTDIR: [
    'NOT_A_FOLDER',
    'leads through something that is not a folder: check the path with list_dir.',
  ],
  EISDIR: ['NOT_A_FILE', 'is a folder, not a file: look into it with list_dir.'],
  ENXIO: ['NOT_A_FILE', 'is a socket or a device, not a file.'],
  ELOOP: [
    'NOT_A_FILE',
    'is a symbolic link that leads nowhere or in a circle: use the path of a real file.',
  ],
  EACCES: [
    'NOT_PERMITTED',
    'may not be opened by this user: ask the person to change its permissions.',
  ],
  EPERM: [
    'NOT_PERMITTED',
    'may not be changed by this user: ask the person to change its permissions.',
  ],
  EROFS: ['NOT_PERMITTED', 'lies on a disk that is read-only.'],
  ENAMETOOLONG: ['INVALID_PATH', 'is longer than the file system allows: use a shorter path.'],
  ENOSPC: [
    'DISK_FULL',
    'could not be written, because the disk is full: ask the person to make room.',
  ],
  EDQUOT: [
    'DISK_FULL',
    'could not be written, because the quota is used up: ask the person to make room.',
  ],
};
