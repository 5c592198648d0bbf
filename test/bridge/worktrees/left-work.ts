/** Work that a commit of the branch cannot hold: it is listed, and its folder stays. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  callOf,
  newConversation,
  type Place,
  repositoryWith,
  startBridge,
} from './worktree-bridge.ts';

/** A repository with a submodule whose folder is empty. */
export async function withModule(): Promise<Place> {
  const place = await repositoryWith({ 'a.txt': 'one\n' });
  const head = (await place.git('rev-parse', 'HEAD')).trim();
  await place.git('update-index', '--add', '--cacheinfo', `160000,${head},module`);
  await place.git('commit', '--quiet', '-m', 'second');
  return place;
}

/** Runs the command in a worktree, and expects that what it leaves in this folder is listed and kept. */
export async function expectLeft(command: string, left: string): Promise<void> {
  const place = await withModule();
  const { bridge } = await startBridge(place);
  const id = newConversation();
  const opened = await bridge.call(callOf(id, 'open_worktree'));
  expect(opened.data).toContain('module. Work there would be in no commit of this branch.');
  const { path } = opened.metadata as { path: string };
  await bridge.run(id, `${command}; true`);
  const result = await bridge.call(callOf(id, 'close_worktree', { commit: true }));
  expect(result).toMatchObject({ metadata: { committed: false, files: [], left: [left] } });
  expect(result.data).toContain(`in the folder of this work alone: ${left}`);
  const removed = await bridge.call(callOf(id, 'remove_worktree'));
  expect(removed.data).toContain('so its folder stays');
  expect(existsSync(join(path, left))).toBe(true);
  expect(await bridge.run(id, 'git rev-parse --show-toplevel')).toContain(path);
}
