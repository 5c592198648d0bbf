/** What became of a command, in one line for a person: a failure that was to be expected has no stack. */
import { ClientError } from '../../client/error.ts';
import { LocalError } from '../../machine/local-error.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/plain-sight.ts';

/** A bug is told with its stack. */
export function describeFailure(error: unknown): string {
  if (error instanceof ClientError) return describeError(error);
  if (error instanceof LocalError || error instanceof DrawbridgeError) return error.message;
  const bug = String((error as Error)?.stack ?? error).replaceAll(/\n\s*/g, ' ');
  return describeSystemError(error) ?? bug;
}

/** An error of the API: its code, and what it means here. */
export function describeError({ code, message }: ClientError): string {
  return printableLine(`error ${code}: ${message}`, REQUEST_LIMITS.maxReasonChars);
}

/** For an error of the operating system: what it was about, what is wrong, and what to do. */
function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined;
  const code = String(error.code);
  const [what, todo] = SYSTEM_ERRORS[code] ?? [`the system says ${code}`, 'see to it'];
  const path = 'path' in error ? String(error.path) : `A file (${error.syscall})`;
  return `${path}: ${what}; ${todo}, and run this again.`;
}

const NOT_YOURS = [
  'you may not use it',
  'change its owner or its permissions, or give another --state',
] as const;
const NO_ROOM = ['the disk is full', 'make room'] as const;

const SYSTEM_ERRORS: Readonly<Record<string, readonly [what: string, todo: string]>> = {
  ENOSPC: NO_ROOM,
  EDQUOT: ['your quota of the disk is used up', 'make room'],
  EROFS: ['the disk is read-only', 'make it writable, or give another --state'],
  EACCES: NOT_YOURS,
  EPERM: NOT_YOURS,
  ENOENT: ['it is not there', 'see whether something has removed it'],
  EISDIR: ['it is a folder and should be a file', 'move it away'],
  ERR_FS_EISDIR: ['it is a folder and should be a file', 'move it away'],
  ENOTDIR: ['something on its way is not a folder', 'move that away'],
  EEXIST: ['something else stands in its place', 'move that away'],
  ENXIO: ['it is not a file', 'move it away'],
  ELOOP: ['its links lead in a circle', 'remove them'],
  ENAMETOOLONG: ['the name is too long', 'use a shorter one'],
  EIO: ['the disk has failed', 'look after the disk'],
  EMFILE: ['too many files are open', 'raise the limit (ulimit -n)'],
  ENFILE: ['too many files are open', 'end other programs'],
};
