/** Listens on the control socket of a server. Only this user can reach it: its folder is private. */
import { once } from 'node:events';
import { lstatSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../../machine/hash.ts';
import { LocalError } from '../../machine/local-error.ts';
import { makePrivateFolder } from '../../machine/private-files.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { type ControlAnswer, ControlRequest } from './control.ts';

/** Answers one request. `closed` aborts when the asking program has left. */
export type Controller = (request: ControlRequest, closed: AbortSignal) => Promise<ControlAnswer>;

/** The open socket of a server. The caller has the claim on the server's state. */
export async function openControl(serverDir: string, controller: Controller): Promise<Control> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    void serve(socket, controller);
  });
  return {
    path: await listen(server, serverDir),
    [Symbol.dispose]: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export interface Control extends Disposable {
  readonly path: string;
}

/** In the state folder; in a private folder for temporary files where the path is too long, or the disk takes no socket. */
async function listen(server: Server, serverDir: string): Promise<string> {
  const path = join(serverDir, 'control.sock');
  const isShort = Buffer.byteLength(path) <= LOCAL_LIMITS.maxSocketPathBytes;
  if (isShort && (await listensAt(server, path))) return path;
  const digest = sha256(serverDir).slice(0, 16);
  const other = join(tmpdir(), `drawbridge-${process.getuid?.() ?? 0}-${digest}`, 'control.sock');
  requirePrivate(dirname(other));
  if (await listensAt(server, other)) return other;
  throw new LocalError('failed', `The control socket ${other} cannot be made.`);
}

async function listensAt(server: Server, path: string): Promise<boolean> {
  try {
    // A killed server leaves its socket behind.
    rmSync(path, { force: true });
    await once(server.listen(path), 'listening');
    return true;
  } catch {
    return false;
  }
}

/** Another user may have made a folder of this name. */
function requirePrivate(folder: string): void {
  makePrivateFolder(folder);
  const { uid, mode } = lstatSync(folder);
  const isOurs = uid === (process.getuid?.() ?? uid) && (mode & 0o077) === 0;
  if (isOurs && lstatSync(folder).isDirectory()) return;
  throw new LocalError('refused', `${folder} is not a private folder of yours: move it away.`);
}

/** Reads one line, answers, and keeps the socket until the other side leaves. */
async function serve(socket: Socket, controller: Controller): Promise<void> {
  const closed = new AbortController();
  const leave = () => closed.abort();
  socket.once('close', leave).once('end', leave).on('error', leave);
  const late = setTimeout(() => socket.destroy(), LOCAL_LIMITS.controlMs);
  const text = await readLine(socket).catch(() => ''); // The other side has gone.
  clearTimeout(late);
  // Read on, for the end of the other side.
  socket.resume();
  const request = ControlRequest.safeParse(parseIfJson(text));
  const answer = request.success
    ? await controller(request.data, closed.signal)
    : ({ answer: 'error', kind: 'refused', message: UNKNOWN } as const);
  socket.write(`${JSON.stringify(answer)}\n`);
  if (closed.signal.aborted) socket.end();
  else closed.signal.addEventListener('abort', () => socket.end());
}

const UNKNOWN = 'The running server does not know this request: `drawbridge stop` ends it.';

/** Empty for a side that leaves, or that writes too much. */
async function readLine(socket: Socket): Promise<string> {
  let text = '';
  for await (const piece of socket.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += piece;
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'));
    if (text.length > LOCAL_LIMITS.maxControlChars) return '';
  }
  return '';
}
