import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { restartWaitMs, supervise } from '../../../local/processes/supervise.ts';
import { tieToUs } from '../../../machine/lifeline.ts';
import { isAlive, processesWith } from '../processes.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A real process that says when it is up. The marker distinguishes it from all others. */
class Child {
  readonly marker = crypto.randomUUID();
  readonly started: ChildProcess[] = [];
  readonly #script: string;
  #onUp = Promise.withResolvers<ChildProcess>();

  constructor(script: string) {
    this.#script = script;
  }

  readonly start = (): ChildProcess => {
    const child = spawn('sh', ['-c', `${this.#script} #${this.marker}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.started.push(child);
    child.stdout.once('data', () => {
      this.#onUp.resolve(child);
      this.#onUp = Promise.withResolvers();
    });
    return child;
  };

  /** The next child that is up. */
  nextUp(): Promise<ChildProcess> {
    return this.#onUp.promise;
  }
}

const STAYS = 'echo up; while :; do sleep 0.1; done';
const IGNORES_SIGTERM = `trap '' TERM; ${STAYS}`;

test('a child that is killed is started again, and says how it died', async () => {
  const child = new Child(STAYS);
  const ending = new AbortController();
  const deaths: string[] = [];
  const up = child.nextUp();
  const supervised = supervise(
    'It',
    child.start,
    { graceMs: 1000, onRestart: (death) => deaths.push(death) },
    ending.signal,
  );
  (await up).kill('SIGKILL');
  const second = await child.nextUp();
  const third = child.nextUp();
  second.kill('SIGTERM');
  await third;
  ending.abort();
  await supervised;
  expect(deaths).toEqual(['SIGKILL', 'SIGTERM']);
  expect(processesWith(child.marker)).toEqual([]);
});

test.each([STAYS, IGNORES_SIGTERM])('an abort leaves no process: %s', async (script) => {
  const child = new Child(script);
  const ending = new AbortController();
  const up = child.nextUp();
  const supervised = supervise('It', child.start, { graceMs: 50 }, ending.signal);
  await up;
  // For a moment there are two: the shell copies itself to run each `sleep`.
  expect(processesWith(child.marker)).not.toEqual([]);
  ending.abort();
  await supervised;
  expect(processesWith(child.marker)).toEqual([]);
});

test('nothing is started once the signal has aborted', async () => {
  const child = new Child(STAYS);
  await supervise('It', child.start, { graceMs: 50 }, AbortSignal.abort());
  expect(child.started).toEqual([]);
});

test('a child that dies again and again is given up', async () => {
  const child = new Child('exit 7');
  const supervised = supervise('It', child.start, { graceMs: 50 }, new AbortController().signal);
  await expect(supervised).rejects.toThrow('It keeps dying (exit code 7).');
  expect(child.started).toHaveLength(5);
});

test('a program that is not there is given up with the reason', async () => {
  const start = () => spawn('/no/such/program');
  const supervised = supervise('It', start, { graceMs: 50 }, new AbortController().signal);
  await expect(supervised).rejects.toThrow(/It keeps dying \(.*ENOENT.*\)/);
});

describe('the wait before a restart', () => {
  test.each([
    [[5_000], 0],
    [[5_000, 5_001], 100],
    [[5_000, 5_001, 5_002], 200],
    [[5_000, 5_001, 5_002, 5_003], 400],
    [[5_000, 5_001, 5_002, 5_003, 5_004], undefined],
    [[5_000, 15_000], 0],
    [[5_000, 5_001, 5_002, 5_003, 15_001], 200],
  ])('after deaths at %o is %o', (deaths, waitMs) => {
    expect(restartWaitMs(deaths)).toBe(waitMs);
  });
});

describe('a child that is tied to its parent', () => {
  const script = join(import.meta.dirname, 'tie-child.ts');

  test('is killed when the parent is killed', async () => {
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const childPid = Number(await once(parent.stdout, 'data'));
    expect(isAlive(childPid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(childPid)).toBe(false);
  });

  test('is guarded by nothing once it is gone', async () => {
    const folder = temporaryFolder();
    const child = spawn('sleep', ['1000'], { cwd: folder });
    tieToUs(child);
    const guards = () => processesWith(`drawbridge-lifeline ${child.pid}`);
    expect(guards()).toHaveLength(1);
    child.kill();
    await expect.poll(guards).toEqual([]);
  });
});
