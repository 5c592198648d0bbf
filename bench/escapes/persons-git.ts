/** What follows a command that made repositories in disguise: the guard's look, then the person's own git. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { protectedIn, WorkspaceGuard } from '../../packages/sandbox/index.ts';
import { writeKnown } from '../../packages/sandbox/quarantine/known.ts';

/** Everything in the folder counts as made by a command: so it is for a bridge that follows a killed one. */
export async function runPersonsGit(folder: string): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'drawbridge-escapes-state-'));
  try {
    writeKnown(stateDir, { version: 1, open: true, entries: {} });
    const listProtected = protectedIn(folder);
    await WorkspaceGuard.open({ workspace: folder, stateDir, listProtected, report: () => {} });
    for (const name of await readdir(folder)) await statusIn(join(folder, name));
  } finally {
    await rm(stateDir, { recursive: true });
  }
}

async function statusIn(cwd: string): Promise<void> {
  const { uid, gid } = await stat(cwd);
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const isRoot = process.getuid?.() === 0;
  const options = { cwd, env, ...(isRoot && { uid, gid }) };
  // Mostly git says that it finds no repository.
  await promisify(execFile)('git', ['status'], options).catch(() => undefined);
}
