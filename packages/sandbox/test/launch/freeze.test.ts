import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WAKE } from '../../../../bench/escapes/attacks.ts';
import { freezeDescendants } from '../../launch/freeze.ts';

const WAKEFUL = `use POSIX; ${WAKE} wake(200000000); $| = 1; print "up"; while (1) { my $i = 0; $i++ while $i < 1000; }`;
const CALM = '$| = 1; print "up"; while (1) { my $i = 0; $i++ while $i < 1000; }';

async function program(perl: string): Promise<number | undefined> {
  const child = spawn('perl', ['-e', perl], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid;
}

describe.skipIf(process.platform !== 'linux')('stopped processes', () => {
  test('stopped processes are listed when they have run all the same', async () => {
    const pid = await program(WAKEFUL);
    const { thaw, awake } = await freezeDescendants();
    onTestFinished(thaw);
    await expect.poll(awake).toContain(pid);
  });

  test('that stay stopped are not', async () => {
    await program(CALM);
    const { thaw, awake } = await freezeDescendants();
    onTestFinished(thaw);
    await sleep(500);
    expect(awake()).toEqual([]);
  });
});
