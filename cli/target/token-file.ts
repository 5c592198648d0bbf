/** Reads a bearer token from where other users of the machine do not see it: a file, or the environment. */
import { readFileSync } from 'node:fs';
import { UsageError } from '../terminal/usage-error.ts';

/** Where a token may be. */
export interface TokenPlace {
  readonly tokenFile?: string | undefined;
}

/** The token in the file, or without one in DRAWBRIDGE_TOKEN; undefined without either. @throws {UsageError} */
export function tokenAt({ tokenFile }: TokenPlace): string | undefined {
  const text = tokenFile === undefined ? process.env['DRAWBRIDGE_TOKEN'] : readTokenFile(tokenFile);
  const token = text?.trim();
  if (token) return token;
  if (tokenFile === undefined) return undefined;
  throw new UsageError(`The token file ${tokenFile} is empty.`);
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`The token file ${path} cannot be read.`, { cause });
  }
}
