import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { ancestorsOf } from '../../../ide/discovery/ancestors.ts';
import { newMachine, openPort, unending } from './announcing.ts';

/** Shells within shells; each waits for the next one. The ids from the outermost to the innermost. */
async function nestShells(depth: number): Promise<number[]> {
  const script =
    'echo $$; if [ "$1" -gt 1 ]; then sh -c "$0" "$0" $(($1 - 1)); else sleep 60; fi; :';
  const child = spawn('sh', ['-c', script, script, `${depth}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  const ids: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    ids.push(Number(line));
    if (ids.length === depth) break;
  }
  return ids;
}

test.runIf(process.platform === 'linux')(
  'climbs through nested shells to the first process',
  async () => {
    const ids = await nestShells(5);
    const ancestors = await ancestorsOf(ids.at(-1) ?? 0, 'linux', unending);
    expect(ancestors.slice(0, 5)).toEqual([...ids.slice(0, -1).reverse(), process.pid]);
    expect(ancestors).toContain(process.ppid);
    expect(ancestors).not.toContain(1);
  },
);

test.runIf(process.platform === 'linux')('finds the same by ps, as on macOS', async () => {
  const [, , innermost = 0] = await nestShells(3);
  expect(await ancestorsOf(innermost, 'darwin', unending)).toEqual(
    await ancestorsOf(innermost, 'linux', unending),
  );
});

test('has no ancestors where the system does not show them', async () => {
  expect(await ancestorsOf(4_000_001, 'linux', unending)).toEqual([]);
  await expect(ancestorsOf(process.pid, 'darwin', AbortSignal.abort())).rejects.toThrow();
});

test.runIf(process.platform === 'linux')(
  'reads a process whose name looks like a state',
  async () => {
    const script = 'printf "x) S 99 (y" > /proc/$$/comm; echo named; read -r _';
    const child = spawn('bash', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    expect((await ancestorsOf(child.pid ?? 0, 'linux', unending))[0]).toBe(process.pid);
  },
);

test.runIf(process.platform === 'linux')(
  'takes the editor whose terminal the bridge runs in',
  async () => {
    const { announce, discover, workspace } = newMachine();
    const [editor = 0, , , bridge = 0] = await nestShells(4);
    const [mine, other] = [await openPort(), await openPort()];
    const content = (port: number) => ({ port, workspacePath: workspace, authToken: `${port}` });
    announce(`gemini/ide/gemini-ide-server-${editor}-${mine}.json`, content(mine), {
      ageMs: 60_000,
    });
    const [stranger = 0] = await nestShells(1);
    announce(`gemini/ide/gemini-ide-server-${stranger}-${other}.json`, content(other));
    const portsFor = async (pid: number) =>
      (await discover({ pid })).ranked.map(({ port }) => port);
    expect(await portsFor(bridge)).toEqual([mine, other]);
  },
);
