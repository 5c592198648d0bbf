/** A program on the screen of tmux, with what it writes and the processor time that it takes. Linux only. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { shellWord } from '../../machine/shell-word.ts';
import { familyOf } from '../family.ts';
import { openTemporaryFolder } from '../folder.ts';

const SIZE = ['-x', '100', '-y', '30'];
const LOOK_EVERY_MS = 10;

export interface Screen extends AsyncDisposable {
  /** From the start of the program until the text stands on the screen, or since this call, in milliseconds. */
  shows(text: string): Promise<number>;
  enter(text: string): Promise<void>;
  /** Bytes that the program has written so far. */
  bytes(): number;
  /** Processor time of the program and those below it so far, in milliseconds. */
  cpuMs(): number;
}

export async function openScreen(
  program: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<Screen> {
  const folder = openTemporaryFolder();
  const written = join(folder.path, 'written');
  const socket = `drawbridge-bench-${randomUUID()}`;
  const tmux = async (...words: string[]) =>
    (await promisify(execFile)('tmux', ['-L', socket, '-f', '/dev/null', ...words])).stdout;
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // The shell waits until everything that the program writes is counted.
  const start = join(folder.path, 'start');
  const line = `while [ ! -e ${start} ]; do sleep 0.01; done; exec env ${[...settings, ...program].map(shellWord).join(' ')}`;
  await tmux('new-session', '-d', ...SIZE, '-c', cwd, line);
  await tmux('pipe-pane', `cat > ${written}`);
  await promisify(execFile)('touch', [written, start]);
  let sinceMs = performance.now();
  const pid = Number((await tmux('display-message', '-p', '#{pane_pid}')).trim());
  return {
    async shows(text) {
      while (!(await tmux('capture-pane', '-p')).includes(text)) await sleep(LOOK_EVERY_MS);
      const tookMs = performance.now() - sinceMs;
      sinceMs = performance.now();
      return tookMs;
    },
    async enter(text) {
      await tmux('send-keys', '-l', text);
      // Between the words and Enter, so that no program takes both for a paste.
      await sleep(500);
      await tmux('send-keys', 'Enter');
      sinceMs = performance.now();
    },
    bytes: () => statSync(written).size,
    cpuMs: () => familyOf(pid).reduce((sum, member) => sum + cpuMsOf(member), 0),
    async [Symbol.asyncDispose]() {
      await tmux('kill-server').catch(() => undefined);
      folder[Symbol.dispose]();
    },
  };
}

/** The kernel counts in hundredths of a second (`USER_HZ`, proc_pid_stat(5)). */
const TICK_MS = 10;

function cpuMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system] = [11, 12].map((at) => Number(fields[at]));
    return ((user ?? 0) + (system ?? 0)) * TICK_MS;
  } catch {
    return 0;
  }
}
