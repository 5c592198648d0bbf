/** Reads the file that holds a server's AUTH_SECRET. */
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { decodeSecrets } from '../../shared/wire/tokens.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The text of AUTH_SECRET. @throws {UsageError} for a file that cannot be read or holds something else. */
export async function readSecret(path: string): Promise<string> {
  const text = await readPlainFile(path).catch((cause: unknown) => {
    throw new UsageError(`The secret file ${path} ${whyUnread(cause)}.`, { cause });
  });
  const decoded = decodeSecrets(text);
  if (decoded.ok) return text.trim();
  throw new UsageError(
    `The secret file ${path} must hold AUTH_SECRET and nothing else, but what it holds ${decoded.problem}.`,
  );
}

function whyUnread(error: unknown): string {
  if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return 'does not exist';
  if (isSystemError(error, 'EISDIR', 'EINVAL')) return 'is not a file';
  if (isSystemError(error, 'EFBIG')) return 'is too large for a secret';
  return 'cannot be read';
}
