/** Describes a failure in one line for a person. An expected failure has no stack. */
import { ClientError } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { inOneLine, printableLine } from '../../shared/text/plain-sight.ts';
import { asTyped } from './own-command.ts';
import { printErr } from './print.ts';

/** Writes one line to stderr. */
export function complain(message: string): void {
  printErr(`drawbridge: ${inOneLine(message.trim())}\n`);
}

/** The message of an expected failure, or the stack of a bug. */
export function describeFailure(error: unknown): string {
  const text = describe(error);
  const advice = certificateAdviceOn(error);
  return advice === undefined ? text : `${text.replace(/\.$/, '')}. ${advice}`;
}

function describe(error: unknown): string {
  if (error instanceof ClientError) return describeError(error);
  if (error instanceof LocalError || error instanceof DrawbridgeError)
    return asTyped(error.message);
  const bug = String((error as Error)?.stack ?? error).replaceAll(/\n\s*/g, ' ');
  return describeSystemError(error) ?? bug;
}

/** Looks for the reason in the causes: fetch hides it there. */
function certificateAdviceOn(error: unknown): string | undefined {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: unknown };
  return certificateAdvice(code) ?? (cause === undefined ? undefined : certificateAdviceOn(cause));
}

/** What to do where Node knows no authority for a certificate; undefined for other codes of errors. */
export function certificateAdvice(code: unknown): string | undefined {
  return UNTRUSTED.has(code) ? TRUST : undefined;
}

/** Of OpenSSL, as Node names them. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

const TRUST =
  'For a certificate of your own authority set NODE_EXTRA_CA_CERTS to the file of the authority.';

/** The code and the message of an error of the API. For a failure of the server, also the trace id that its log has. */
export function describeError({ code, message, status = 0, traceId }: ClientError): string {
  const trace = status >= 500 && traceId !== undefined ? ` (trace ${traceId})` : '';
  const text = `error ${code}: ${asTyped(message)}${trace}`;
  return printableLine(text, REQUEST_LIMITS.maxReasonChars);
}

/** For an error of the operating system: the path, what is wrong, and what to do. */
function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined;
  const code = String(error.code);
  const [what, todo] = SYSTEM_ERRORS[code] ?? [`the system reports ${code}`, 'correct this'];
  const path = 'path' in error ? String(error.path) : `A file (${error.syscall})`;
  return `${path}: ${what}; ${todo}, then run the command again.`;
}

const NOT_YOURS = [
  'you may not use it',
  'change its owner or its permissions, or give another place with --state or XDG_STATE_HOME',
] as const;
const NO_ROOM = ['the disk is full', 'make room'] as const;

const SYSTEM_ERRORS: Readonly<Record<string, readonly [what: string, todo: string]>> = {
  ENOSPC: NO_ROOM,
  EDQUOT: ['your quota of the disk is used up', 'make room'],
  EROFS: [
    'the disk is read-only',
    'make it writable, or give another place with --state or XDG_STATE_HOME',
  ],
  EACCES: NOT_YOURS,
  EPERM: NOT_YOURS,
  ENOENT: ['it does not exist', 'check whether something has removed it'],
  EISDIR: ['it is a folder and should be a file', 'move it away'],
  ERR_FS_EISDIR: ['it is a folder and should be a file', 'move it away'],
  ENOTDIR: ['a part of this path is not a folder', 'move that part away'],
  EEXIST: ['something else is in its place', 'move that away'],
  ENXIO: ['it is not a file', 'move it away'],
  ELOOP: ['its links form a loop', 'remove them'],
  ENAMETOOLONG: ['the name is too long', 'use a shorter one'],
  EIO: ['the disk has failed', 'check the disk'],
  EMFILE: ['too many files are open', 'raise the limit (ulimit -n)'],
  ENFILE: ['too many files are open', 'end other programs'],
};
