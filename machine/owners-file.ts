/** Refuses files of the owner's configuration that other users may change. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nameInLine } from '../shared/text/plain-sight.ts';
import { LocalError } from './local-error.ts';

/**
 * For a file that says what may run: another user who may change it could run programs as this one. So could one who may
 * put another file, or another folder on the way to it, in its place. @throws {LocalError} that says what to do.
 */
export async function requireOwnersFile(path: string): Promise<void> {
  const own = process.getuid?.();
  if (own === undefined) return;
  const real = [await realpath(path), join(await realpath(dirname(path)), basename(path))];
  for (const place of new Set(real.flatMap(withFolders))) await requireOwners(place, own);
}

/** The path, and every folder on the way to it. */
function withFolders(path: string): string[] {
  return dirname(path) === path ? [path] : [path, ...withFolders(dirname(path))];
}

async function requireOwners(path: string, own: number): Promise<void> {
  const [GROUP_WRITES, OTHERS_WRITE, STICKY] = [0o020, 0o002, 0o1000];
  const stats = await stat(path);
  const { mode, uid, gid } = stats;
  // Root in a container reads the file of the person who has mounted it.
  if (uid !== own && uid !== 0 && own !== 0) {
    throw new LocalError(
      'refused',
      `${nameInLine(path)} belongs to another user: make it your own.`,
    );
  }
  // In a sticky folder, such as /tmp, a user can move only what is theirs.
  if (stats.isDirectory() && (mode & STICKY) !== 0) return;
  // On most systems, the primary group of a person has no other members.
  const isShared = (mode & GROUP_WRITES) !== 0 && gid !== process.getgid?.();
  const isOpen = (mode & OTHERS_WRITE) !== 0;
  if (!isShared && !isOpen) return;
  const who = isOpen ? 'Every user' : 'A group of users';
  const todo = `chmod ${stats.isDirectory() ? 'go-w' : '600'} ${nameInLine(path)}`;
  throw new LocalError('refused', `${who} may change ${nameInLine(path)}: run \`${todo}\`.`);
}
