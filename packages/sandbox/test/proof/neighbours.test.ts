import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { joinNeighbours } from '../../proof/neighbours.ts';

/** A bridge of another process, ready. */
async function neighbourIn(workspace: string): Promise<number | undefined> {
  const room = join(import.meta.dirname, '../../proof/neighbours.ts');
  const script = `
    const { joinNeighbours } = await import(${JSON.stringify(room)});
    await joinNeighbours(${JSON.stringify(workspace)});
    console.log("ready");
    setInterval(() => {}, 60_000);`;
  const neighbour = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void neighbour.kill('SIGKILL'));
  await once(neighbour.stdout, 'data');
  return neighbour.pid;
}

const root = `/nowhere/${crypto.randomUUID()}`;

test.each([
  ['the same folder', `${root}/a/b`, true],
  ['a folder inside', `${root}/a/b/c/d`, true],
  ['a folder around', `${root}/a`, true],
  ['a folder beside', `${root}/a/bc`, false],
  ['another folder', `${root}/other`, false],
])('a bridge of %s is found, if it overlaps', async (_, workspace, doesOverlap) => {
  const pid = await neighbourIn(workspace);
  using neighbours = await joinNeighbours(`${root}/a/b`);
  expect(neighbours.overlapping).toBe(doesOverlap ? pid : undefined);
});

test('a bridge of the same process is a neighbour, too', async () => {
  using first = await joinNeighbours(`${root}/shared`);
  using inside = await joinNeighbours(`${root}/shared/inside`);
  using beside = await joinNeighbours(`${root}/beside`);
  const found = [first, inside, beside].map(({ overlapping }) => overlapping);
  expect(found).toEqual([undefined, process.pid, undefined]);
});

test('a bridge that was killed is no neighbour', async () => {
  const pid = await neighbourIn(`${root}/killed`);
  process.kill(pid ?? 0, 'SIGKILL');
  await expect
    .poll(async () => {
      using neighbours = await joinNeighbours(`${root}/killed`);
      return neighbours.overlapping;
    })
    .toBeUndefined();
});

test('a bridge that is stopped still is one', async () => {
  const pid = await neighbourIn(`${root}/stopped`);
  process.kill(pid ?? 0, 'SIGSTOP');
  using neighbours = await joinNeighbours(`${root}/stopped/inside`);
  process.kill(pid ?? 0, 'SIGKILL');
  expect(neighbours.overlapping).toBe(pid);
});
