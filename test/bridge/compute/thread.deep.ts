import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ComputeThread } from '../../../machine/compute/thread.ts';
import type { EditRequest } from '../../../packages/edits/propose.ts';
import { EDIT_TASKS } from '../../../packages/edits/tasks.ts';

const LIMITS = { maxMs: 60_000, maxHeapMb: 512, maxGrowthMb: 1_024, idleMs: 500 };
const NEVER = new AbortController().signal;

const LARGE = Buffer.from(Array.from({ length: 400_000 }, (_, at) => `line ${at}\n`).join(''));

/** Takes about half a second, and some hundred megabytes. */
const heavy: EditRequest = {
  name: 'large.txt',
  bytes: LARGE,
  standing: { state: 'unread' },
  edit: {
    kind: 'replace',
    pieces: [{ search: 'no such line\nnor this', replacement: '', all: false }],
  },
};

/** Takes no time. */
const light: EditRequest = {
  ...heavy,
  bytes: Buffer.from('a\n'),
  edit: { kind: 'replace', pieces: [{ search: 'a', replacement: 'b', all: false }] },
};

const missing = { code: 'NOT_FOUND_IN_FILE', message: expect.stringContaining('large.txt: ') };
const done = {
  data: 'Edited large.txt (1 line before, 1 now). Replaced at line 1.\n@@ line 1 @@\n-a\n+b',
};

describe('ComputeThread', () => {
  it('gives back what a task makes, and throws the failures that it throws', async () => {
    const thread = new ComputeThread(LIMITS);
    expect(await thread.run(EDIT_TASKS.proposeEdit, light, NEVER)).toMatchObject(done);
    await expect(thread.run(EDIT_TASKS.proposeEdit, heavy, NEVER)).rejects.toMatchObject({
      name: 'ToolFailure',
      ...missing,
    });
  });

  it('does tasks one after the other, in the order in which they came', async () => {
    const thread = new ComputeThread(LIMITS);
    const ended: number[] = [];
    const tasks = [heavy, light, heavy, light].map(async (request, index) => {
      await thread.run(EDIT_TASKS.proposeEdit, request, NEVER).catch(() => {});
      ended.push(index);
    });
    await Promise.all(tasks);
    expect(ended).toEqual([0, 1, 2, 3]);
  });

  it.each([
    ['time', { ...LIMITS, maxMs: 5 }],
    ['memory', { ...LIMITS, maxHeapMb: 16 }],
  ])('ends a task that takes too much %s, and goes on with the next', async (what, limits) => {
    const thread = new ComputeThread(limits);
    const failed = thread.run(EDIT_TASKS.proposeEdit, heavy, NEVER);
    await expect(failed).rejects.toMatchObject({
      code: 'TOO_COMPLEX',
      message: expect.stringContaining(what === 'time' ? 'longer than 5 ms' : 'too much memory'),
    });
    const patient = new ComputeThread(LIMITS);
    expect(await patient.run(EDIT_TASKS.proposeEdit, light, NEVER)).toMatchObject(done);
    if (what === 'memory') {
      expect(await thread.run(EDIT_TASKS.proposeEdit, light, NEVER)).toMatchObject(done);
    }
  });

  it('ends a cancelled task at once, and not those that wait behind it', async () => {
    const thread = new ComputeThread(LIMITS);
    const cancelled = new AbortController();
    const first = thread.run(EDIT_TASKS.proposeEdit, heavy, cancelled.signal);
    const second = thread.run(EDIT_TASKS.proposeEdit, light, NEVER);
    cancelled.abort(new Error('cancelled'));
    await expect(first).rejects.toThrow('cancelled');
    expect(await second).toMatchObject(done);
  });

  it('lets a task be cancelled while it waits, and keeps the order of the others', async () => {
    const thread = new ComputeThread(LIMITS);
    const cancelled = new AbortController();
    const first = thread.run(EDIT_TASKS.proposeEdit, heavy, NEVER);
    const second = thread.run(EDIT_TASKS.proposeEdit, light, cancelled.signal);
    const third = thread.run(EDIT_TASKS.proposeEdit, light, NEVER);
    cancelled.abort(new Error('cancelled'));
    await expect(second).rejects.toThrow('cancelled');
    const order = await Promise.race([first.catch(() => 'first'), third.then(() => 'third')]);
    expect(order).toBe('first');
    await third;
  });

  it('works from source, and does not keep a process alive that has nothing else to do', async () => {
    const source = (path: string) => JSON.stringify(join(import.meta.dirname, path));
    const program = `
      import { compute } from ${source('../../../machine/compute/compute.ts')};
      import { CONTENT_TASKS } from ${source('../../../bridge/compute/tasks.ts')};
      const view = { name: 'a', bytes: Buffer.alloc(1e6, 'x\\n'), offset: 2, limit: 1 };
      const { text } = await compute(CONTENT_TASKS.showFile, view, new AbortController().signal);
      console.log(text.split('\\n')[0]);
    `;
    const args = ['--input-type=module', '--eval', program];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    expect({ stdout, stderr }).toEqual({ stdout: '2|x\n', stderr: '' });
  });
});
