/** Has the Worker delete what deleted accounts have left behind: after the start of a server, and then once an hour. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepAlive } from '../../machine/keep-alive.ts';
import { formatLogLine } from '../../machine/log-line.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { type LeftQuery, LeftReport } from '../../shared/api/left.ts';
import { LEFT_LIMITS } from '../../shared/limits.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { mintToken } from '../state/tokens.ts';
import type { StartedServer } from './wake.ts';
import { uniqueKeyOf } from './workerd-config.ts';

/** The objects that can be left behind, by their classes. Those of accounts stay: they say that they were deleted. */
const CLASSES = { conversations: 'Conversation', bridges: 'Tunnel' } as const;

/** Never rejects. A round that fails begins again soon. */
export async function sweepHourly(server: StartedServer, signal: AbortSignal): Promise<void> {
  const sweep = newSweep(server, signal);
  await keepAlive(async () => {
    try {
      await sweep();
      return LOCAL_LIMITS.sweepMs;
    } catch (error) {
      if (signal.aborted) return undefined;
      const message = `What deleted accounts have left behind was not looked for: ${error}`;
      server.log.append(formatLogLine({ event: 'sweep_failed', message }, new Date()));
      return LOCAL_LIMITS.sweepAgainMs;
    }
  }, signal);
}

/** Looks at each file again when it has changed, and at all when an account was deleted since. */
export function newSweep(server: StartedServer, signal: AbortSignal): () => Promise<void> {
  /** When each file that was asked about had changed, by its path. */
  const seen = new Map<string, number>();
  let known = 0;
  return async () => {
    const { deletions } = await ask(server, {}, signal);
    if (deletions === 0) return;
    if (deletions !== known) seen.clear();
    for (const [list, className] of Object.entries(CLASSES)) {
      const folder = join(server.state.storageDir, uniqueKeyOf(className));
      const files = (await filesIn(folder)).filter(([path, atMs]) => seen.get(path) !== atMs);
      for (let from = 0; from < files.length; from += LEFT_LIMITS.maxObjects) {
        const page = files.slice(from, from + LEFT_LIMITS.maxObjects);
        const objects = page.map(([path]) => path.slice(-OBJECT_FILE, -'.sqlite'.length));
        await ask(server, { [list]: objects }, signal);
        for (const [path, atMs] of page) seen.set(path, atMs);
        await sleep(LOCAL_LIMITS.sweepPauseMs, undefined, { signal });
      }
    }
    known = deletions;
  };
}

/** Characters of the name of an object's file. */
const OBJECT_FILE = 64 + '.sqlite'.length;

/** The databases of objects, with the time of their last change. */
async function filesIn(folder: string): Promise<(readonly [path: string, atMs: number])[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  });
  const files: (readonly [string, number])[] = [];
  for (const name of names) {
    if (!/^[0-9a-f]{64}\.sqlite$/.test(name)) continue;
    const path = join(folder, name);
    const times = await Promise.all(
      [path, `${path}-wal`].map(async (file) => {
        const stats = await stat(file).catch(() => undefined);
        return stats?.mtimeMs ?? 0;
      }),
    );
    files.push([path, Math.max(...times)]);
  }
  return files;
}

async function ask(
  { url, state }: StartedServer,
  query: Partial<LeftQuery>,
  signal: AbortSignal,
): Promise<LeftReport> {
  const token = await mintToken(state.authSecret, { scope: 'operator' }, new Date());
  const response = await fetch(`${url}/api/v1/operator/left`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(query),
    signal: AbortSignal.any([signal, AbortSignal.timeout(LOCAL_LIMITS.sweepAgainMs)]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the Worker answered ${response.status}`);
  }
  return LeftReport.parse(await response.json());
}
