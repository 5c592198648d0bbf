import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isLocked, takeLock } from '../../machine/lock.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';

test('a lock has one holder at a time', () => {
  const path = join(temporaryFolder(), 'lock');
  using _ = taken(path);
  expect(isLocked(path)).toBe(true);
  expect(takeLock(path)).toEqual({ isTaken: false, holder: process.pid });
});

test('a lock that was given back is free', () => {
  const path = join(temporaryFolder(), 'lock');
  taken(path)[Symbol.dispose]();
  expect(isLocked(path)).toBe(false);
  taken(path)[Symbol.dispose]();
});

test('a claim of a dead process whose number another has now holds nothing', () => {
  const path = join(temporaryFolder(), 'lock');
  const claim = { id: 'a', pid: process.pid, started: 'in another life' };
  writeFileSync(path, `${JSON.stringify(claim)}\n`);
  expect(isLocked(path)).toBe(false);
  taken(path)[Symbol.dispose]();
});

test('a lock that was never taken is free', () => {
  expect(isLocked(join(temporaryFolder(), 'lock'))).toBe(false);
});

test('a lock is free as soon as its holder was killed', async () => {
  const path = join(temporaryFolder(), 'lock');
  const holder = await startHolder(path);
  expect(isLocked(path)).toBe(true);
  expect(takeLock(path)).toEqual({ isTaken: false, holder: holder.pid });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(isLocked(path)).toBe(false);
  taken(path)[Symbol.dispose]();
});

test.runIf(process.platform === 'linux')(
  'a lock is free when its holder is dead, even if its parent has not asked for its end',
  async () => {
    const path = join(temporaryFolder(), 'lock');
    const script = join(import.meta.dirname, 'fixtures', 'hold-lock.ts');
    // The shell becomes a program that never asks for the end of its children.
    const line = `'${process.execPath}' '${script}' '${path}' & echo $!; exec sleep 60`;
    const parent = spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    let printed = '';
    for await (const piece of parent.stdout) {
      printed += piece;
      if (printed.includes('held')) break;
    }
    expect(isLocked(path)).toBe(true);
    process.kill(Number.parseInt(printed, 10), 'SIGKILL');
    await expect.poll(() => isLocked(path)).toBe(false);
  },
);

function taken(path: string): Disposable {
  const lock = takeLock(path);
  if (!lock.isTaken) throw new Error(`Process ${lock.holder} holds the lock.`);
  return lock;
}

async function startHolder(path: string): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'fixtures', 'hold-lock.ts');
  const holder = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  expect(String(await once(holder.stdout, 'data'))).toBe('held\n');
  return holder;
}
