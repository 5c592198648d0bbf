import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { childrenOf, stopProcesses } from '../../../local/backup/pause.ts';

const PAUSE = join(import.meta.dirname, '../../../local/backup/pause.ts');

test('stopped processes stand until they are let go', async () => {
  const pids = [await startCounter(), await startCounter()].map(({ pid = 0 }) => pid);
  const stopped = await stopProcesses(pids);
  expect(pids.map(stateOf)).toEqual(['T', 'T']);
  stopped[Symbol.dispose]();
  await vi.waitFor(() => expect(pids.map(stateOf)).not.toContain('T'));
});

test('stopped processes go on if the process that stopped them is killed', async () => {
  const { pid = 0 } = await startCounter();
  const program = `const { stopProcesses } = await import(${JSON.stringify(PAUSE)});
    await stopProcesses([${pid}]);
    console.log('stopped');
    setInterval(() => {}, 1000);`;
  const stopper = start(['--input-type=module', '--eval', program]);
  await said(stopper);
  expect(stateOf(pid)).toBe('T');
  stopper.kill('SIGKILL');
  await vi.waitFor(() => expect(stateOf(pid)).not.toBe('T'));
});

test('a process that is gone is no hindrance', async () => {
  const counter = await startCounter();
  counter.kill('SIGKILL');
  await once(counter, 'exit');
  using stopped = await stopProcesses([counter.pid ?? 0]);
  expect(stopped).toBeDefined();
});

test('the children of a process are those that it has started itself', async () => {
  const counter = await startCounter();
  expect(childrenOf(process.pid)).toContain(counter.pid);
  expect(childrenOf(counter.pid ?? 0)).toEqual([]);
});

/** A process with running threads. */
async function startCounter(): Promise<ChildProcess> {
  const counter = start(['--eval', 'setInterval(() => {}, 1); console.log("counting")']);
  await said(counter);
  return counter;
}

function start(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

async function said({ stdout }: ChildProcess): Promise<void> {
  if (stdout) await once(stdout, 'data');
}

/** The letter of proc_pid_stat(5). */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? '';
}
