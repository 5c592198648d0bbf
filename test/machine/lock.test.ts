import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isLocked, takeLock } from '../../machine/lock.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';

test('a lock has one holder at a time', () => {
  const path = join(temporaryFolder(), 'lock');
  const lock = takeLock(path);
  expect(isLocked(path)).toBe(true);
  expect(takeLock(path)).toBeUndefined();
  lock?.[Symbol.dispose]();
  expect(isLocked(path)).toBe(false);
  takeLock(path)?.[Symbol.dispose]();
});

test('a lock that was never taken is free', () => {
  expect(isLocked(join(temporaryFolder(), 'lock'))).toBe(false);
});

test('a lock is free as soon as its holder was killed', async () => {
  const path = join(temporaryFolder(), 'lock');
  const holder = await startHolder(path);
  expect(isLocked(path)).toBe(true);
  expect(takeLock(path)).toBeUndefined();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(isLocked(path)).toBe(false);
  const lock = takeLock(path);
  expect(lock).toBeDefined();
  lock?.[Symbol.dispose]();
});

async function startHolder(path: string): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'fixtures', 'hold-lock.ts');
  const holder = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  expect(String(await once(holder.stdout, 'data'))).toBe('held\n');
  return holder;
}
