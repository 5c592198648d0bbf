import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Git } from '../../../bridge/worktrees/git.ts';

test('a pipe whose second git cannot be started fails once', async () => {
  const unheard = vi.fn();
  process.on('unhandledRejection', unheard);
  onTestFinished(() => void process.off('unhandledRejection', unheard));
  const git = new Git({ file: 'git', prefix: [] });
  const { signal } = new AbortController();
  const waits = { cwd: '/', args: ['hash-object', '--stdin'], timeoutMs: 1, signal };
  const tooLong = { cwd: '/', args: ['x'.repeat(200_000)], signal };
  await expect(git.pipe(waits, tooLong)).rejects.toThrow('E2BIG');
  await sleep(100);
  expect(unheard).not.toHaveBeenCalled();
});
