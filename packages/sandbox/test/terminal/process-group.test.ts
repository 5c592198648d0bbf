import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { endNamespace, identify } from '../../terminal/process-group.ts';

test.skipIf(process.platform !== 'linux')(
  'the first process of a namespace is ended, and no later one with its id',
  async () => {
    const child = spawn('sleep', ['300'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'spawn');
    const first = identify(child.pid ?? 0);
    if (!first) throw new Error('it runs');
    await endNamespace({ ...first, began: '1' });
    expect(identify(first.pid)).toEqual(first);
    const exited = once(child, 'exit');
    await endNamespace(first);
    expect(identify(first.pid)).toBeUndefined();
    expect(await exited).toEqual([null, 'SIGKILL']);
  },
);
