/**
 * Finds bridges of one machine whose workspaces overlap. While a bridge makes a base, no other command may be started in
 * its workspace, and a bridge knows only of its own commands. So only one bridge confines commands.
 *
 * A bridge that confines holds abstract sockets (unix(7)), which go with its process: one with the digest of its
 * workspace in its name, and one for each folder around it. Only the names of these sockets are used.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname } from 'node:path';
import { sha256 } from '../../../machine/hash.ts';

export interface Neighbourhood extends Disposable {
  /** The process, which may be this one, of another bridge whose workspace is this one, lies inside it, or lies around it. */
  readonly overlapping: number | undefined;
}

/**
 * Announces the workspace, and looks for other bridges. Of two bridges that begin at the same moment each sees the
 * other, and neither confines.
 */
export async function joinNeighbours(workspace: string): Promise<Neighbourhood> {
  const at = digestOf(workspace);
  const around = foldersAround(workspace).map(digestOf);
  const names = [`at-${at}`, ...around.map((digest) => `below-${digest}`)];
  const id = crypto.randomUUID().slice(0, 8);
  const servers = await Promise.all(names.map((name) => hold(id, name)));
  const found = heldNames().find(
    (held) =>
      held.id !== id &&
      (held.name === `at-${at}` ||
        held.name === `below-${at}` ||
        around.some((digest) => held.name === `at-${digest}`)),
  );
  return {
    overlapping: found?.pid,
    [Symbol.dispose]: () => {
      for (const server of servers) server.close();
    },
  };
}

const PREFIX = 'drawbridge-sandbox-';

async function hold(id: string, name: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen(`\0${PREFIX}${process.pid}-${id}-${name}`);
  await once(server, 'listening');
  // The socket must not keep the process alive.
  return server.unref();
}

function foldersAround(workspace: string): string[] {
  const folder = dirname(workspace);
  return folder === workspace ? [] : [folder, ...foldersAround(folder)];
}

/** Short, because a socket's name has 107 bytes. A digest shows no path to other users. */
function digestOf(folder: string): string {
  return sha256(folder).slice(0, 32);
}

/** Reads proc(5), which shows an abstract name with `@` as its first byte. */
function heldNames(): { pid: number; id: string; name: string }[] {
  const lines = readFileSync('/proc/net/unix', 'latin1').split('\n');
  return lines.flatMap((line) => {
    const [, pid, id, name] = /@drawbridge-sandbox-(\d+)-([0-9a-f]{8})-(\S+)$/.exec(line) ?? [];
    return pid && id && name ? [{ pid: Number(pid), id, name }] : [];
  });
}
