/** Reads a file of which we know only the name, and which a command may have made: never waits, never takes all memory. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { TOOL_LIMITS } from '../shared/limits.ts';

/**
 * The text of a regular file. Links are followed. Anything else there is an error (`EINVAL`), as is a file that is too
 * large (`EFBIG`): reading a pipe would hold one of Node's few threads until somebody writes to it.
 */
export async function readPlainFile(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw systemError('EINVAL', `${path} is not a regular file`);
  if (stats.size > TOOL_LIMITS.maxFileBytes) throw systemError('EFBIG', `${path} is too large`);
  return await file.readFile('utf8');
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
