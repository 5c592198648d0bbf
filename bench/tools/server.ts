/** How much memory a server takes with two folders, as `drawbridge start` leaves it. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { INDEX_LIMITS } from '../../packages/code-index/index.ts';
import { memoryOf } from '../family.ts';
import { openOwnServer } from '../own-server.ts';
import { memory, type Part } from './part.ts';

const MAX_MB = 200;
/** After this the server has done what a start leaves to do, and the threads of its indexes have ended. */
const SETTLED_MS = INDEX_LIMITS.idleMs + 8_000;

export const measureServer: Part = async (_, signal) => {
  const what = 'an idle server with two folders';
  if (!existsSync('/proc/self/smaps_rollup')) return [memory(what, null, MAX_MB)];
  using server = openOwnServer();
  const folders = ['first', 'second'].map((name) => server.newFolder(name));
  try {
    for (const folder of folders) server.run('start', folder);
    await sleep(SETTLED_MS, undefined, { signal });
    const members = memoryOf(await server.pid());
    const all = members.reduce((sum, { mb }) => sum + mb, 0);
    const each = members.map(({ command, mb }) => memory(`${what}: ${basename(command)}`, mb));
    return [memory(what, all, MAX_MB), ...each];
  } finally {
    server.run('stop', folders[0] ?? '');
  }
};
