import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CANCELLED_BEFORE_START } from '../../terminal/run-command.ts';
import { isAnyoneRunning, plainLaunch, run } from './plain-launch.ts';

describe('a command', () => {
  test('ends with its exit code and both outputs in the order of writing', async () => {
    const outcome = await run(plainLaunch('echo one; echo two >&2; echo three; exit 3'));
    expect(outcome).toEqual({
      end: { state: 'exited', exitCode: 3 },
      output: 'one\ntwo\nthree\n',
      durationMs: expect.any(Number),
    });
  });

  test('reads nothing', async () => {
    const { output } = await run(plainLaunch('cat; echo done'));
    expect(output).toBe('done\n');
  });

  test('has only the environment that it is given', async () => {
    process.env['DRAWBRIDGE_TEST_SECRET'] = 'secret';
    const { output } = await run(plainLaunch('env'));
    delete process.env['DRAWBRIDGE_TEST_SECRET'];
    expect(output).not.toContain('secret');
  });

  test('keeps a character together whose bytes come one by one', async () => {
    const { output } = await run(
      plainLaunch(
        String.raw`for byte in '\360' '\237' '\214' '\211'; do printf "$byte"; sleep 0.02; done`,
      ),
    );
    expect(output).toBe('🌉');
  });

  test('that floods its output is kept small and ends at its limit', async () => {
    const { end, output } = await run(plainLaunch('yes'), { timeoutMs: 1_000 });
    expect(end).toEqual({ state: 'stopped', reason: 'timeout' });
    expect(output.length).toBeLessThan(40_000);
    expect(output).toContain('characters of output are left out here');
  });

  test('killed by a signal of its own says which', async () => {
    const { end } = await run(plainLaunch('kill -KILL $$'));
    expect(end).toEqual({ state: 'killed', signal: 'SIGKILL' });
  });

  test('whose program is missing was not started', async () => {
    const { end } = await run({ ...plainLaunch('true'), file: '/nowhere/program' });
    expect(end).toEqual({ state: 'not_started', message: expect.stringContaining('ENOENT') });
  });

  test('may clean up when it is asked to end', async () => {
    const cancel = new AbortController();
    const { end, output } = await run(
      plainLaunch('trap "echo cleaned; exit 0" TERM; echo ready; sleep 60 & wait'),
      { signal: cancel.signal, onOutput: () => cancel.abort() },
    );
    expect({ end, output }).toEqual({
      end: { state: 'stopped', reason: 'cancelled' },
      output: 'ready\ncleaned\n',
    });
  });

  test('that ignores the request to end is killed', async () => {
    const { end } = await run(plainLaunch('trap "" TERM; sleep 60; sleep 60'), { timeoutMs: 100 });
    expect(end).toEqual({ state: 'stopped', reason: 'timeout' });
  });

  test('ends when its call is cancelled', async () => {
    const cancel = new AbortController();
    const onOutput = () => cancel.abort();
    const { end } = await run(plainLaunch('echo ready; sleep 60'), {
      signal: cancel.signal,
      onOutput,
    });
    expect(end).toEqual({ state: 'stopped', reason: 'cancelled' });
  });

  test('is never started for a call that is cancelled already', async () => {
    const outcome = await run(plainLaunch('echo started'), { signal: AbortSignal.abort() });
    expect(outcome).toEqual(CANCELLED_BEFORE_START);
  });

  test('streams its output while it runs', async () => {
    const cancel = new AbortController();
    let live = '';
    const { output } = await run(plainLaunch('echo first; sleep 60; echo never'), {
      signal: cancel.signal,
      onOutput: (text) => {
        live += text;
        cancel.abort();
      },
    });
    expect({ live, output }).toEqual({ live: 'first\n', output: 'first\n' });
  });

  test.each([
    ['exits', { timeoutMs: 10_000 }, 'echo up'],
    ['is ended', { timeoutMs: 200 }, 'wait'],
  ])('leaves no background or nested process when it %s', async (_, options, last) => {
    // Only processes of this test sleep for this time.
    const marker = `31${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    await run(
      plainLaunch(`sleep ${marker} & (sh -c "sleep ${marker}; true" &) ; ${last}`),
      options,
    );
    expect(await isAnyoneRunning(marker)).toBe(false);
  });

  test('does not wait for a process that left the group and holds its output open', async () => {
    const { output } = await run(plainLaunch('setsid sleep 5 & echo up'));
    expect(output).toBe('up\n');
  });
});
