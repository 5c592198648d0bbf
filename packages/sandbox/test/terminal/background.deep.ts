import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BackgroundProcesses } from '../../terminal/background.ts';
import { TERMINAL_LIMITS } from '../../terminal/limits.ts';
import { aboutCommand, isAnyoneRunning, plainLaunch } from './plain-launch.ts';

describe('a background command', () => {
  let background: BackgroundProcesses;
  beforeEach(() => {
    background = new BackgroundProcesses();
  });
  afterEach(() => background.endAll());

  const start = (command: string, signal = new AbortController().signal) =>
    background.start(plainLaunch(command), {
      about: aboutCommand(command),
      onOutput: () => {},
      signal,
    });

  test('returns at its first quiet moment and runs on', async () => {
    const { end, output } = await start('echo listening; sleep 60');
    expect({ end, output }).toEqual({
      end: { state: 'running', process: expect.anything(), ended: expect.any(Promise) },
      output: 'listening\n',
    });
  });

  test('returns even when it never stops printing', async () => {
    const { end } = await start('while :; do echo tick; sleep 0.1; done');
    expect(end.state).toBe('running');
  });

  test('that ends at once is reported as ended', async () => {
    const { end, output } = await start('echo no such port; exit 1');
    expect({ end, output }).toEqual({
      end: { state: 'exited', exitCode: 1 },
      output: 'no such port\n',
    });
  });

  test('ends with its call while that still waits', async () => {
    const { end } = await start('sleep 60', AbortSignal.timeout(50));
    expect(end).toEqual({ state: 'stopped', reason: 'cancelled' });
  });

  test('outlives a cancellation after its call has returned', async () => {
    const marker = `32${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    const cancel = new AbortController();
    await start(`sleep ${marker}`, cancel.signal);
    cancel.abort();
    expect(await isAnyoneRunning(marker)).toBe(true);
  });

  test('ends with the bridge, and all it started with it', async () => {
    const marker = `33${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    await start(`sleep ${marker} & sleep ${marker}`);
    await background.endAll();
    expect(await isAnyoneRunning(marker)).toBe(false);
  });

  test('does not begin after the end, when no one would end it', async () => {
    await background.endAll();
    const { end } = await start('sleep 60');
    expect(end).toEqual({ state: 'stopped', reason: 'cancelled' });
  });

  test('frees its place when it ends', async () => {
    const starts = Array.from({ length: TERMINAL_LIMITS.maxBackground }, () => start('sleep 60'));
    await Promise.all(starts);
    const wasFull = background.isFull;
    await background.endAll();
    expect([wasFull, background.isFull]).toEqual([true, false]);
  });
});
