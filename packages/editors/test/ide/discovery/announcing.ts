/** A machine of its own for one test: folders, a workspace, ports that listen, and what companions leave there. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { portOf } from '../../../../../test/far-ends/listening.ts';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import type { SearchPlace } from '../../../ide/discovery/candidate.ts';
import { discover } from '../../../ide/discovery/discover.ts';

export const { signal: unending } = new AbortController();

export function newMachine(change: Partial<SearchPlace> = {}) {
  const root = temporaryFolder();
  const [tmp, home, workspace] = ['tmp', 'home', 'workspace'].map((name) => {
    const path = join(root, name);
    mkdirSync(path);
    return path;
  }) as [string, string, string];
  const place: SearchPlace = {
    workspace,
    home,
    environment: {},
    temporaryFolders: [tmp],
    platform: process.platform,
    pid: process.pid,
    userId: process.getuid?.(),
    isInContainer: false,
    ...change,
  };
  return {
    root,
    tmp,
    home,
    workspace,
    place,
    /** Writes a discovery file; `name` is relative to the temporary folder, or to the home folder behind `~/`. */
    announce(name: string, content: unknown, { ageMs = 0, mode = 0o600 } = {}): string {
      const path = name.startsWith('~/') ? join(home, name.slice(2)) : join(tmp, name);
      mkdirSync(dirname(path), { recursive: true });
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      writeFileSync(path, text, { mode });
      const changed = new Date(Date.now() - ageMs);
      utimesSync(path, changed, changed);
      return path;
    },
    discover: (more: Partial<SearchPlace> = {}) => discover({ ...place, ...more }, unending),
  };
}

/** A port where something listens until the test ends. */
export async function openPort(): Promise<number> {
  return await portOf(createServer((socket) => socket.destroy()));
}

/** A port where nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The number of no process. */
export const EXITED_PID = 4_000_001;
