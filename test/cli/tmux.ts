/** A program on the screen of a real terminal: tmux keeps the screen, and shows it as a person would see it. */
import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, onTestFailed, onTestFinished } from 'vitest';
import { shellWord } from '../../machine/shell-word.ts';

export const HAS_TMUX = spawnSync('tmux', ['-V']).status === 0;

export interface TmuxOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** Ended with the test that opened it. */
export interface TmuxScreen {
  /** Text as a person types it, key by key. */
  type(text: string): Promise<void>;
  /** Keys by tmux's names, such as `Enter`, `C-c`, `Escape`, `Up`. */
  press(...keys: string[]): Promise<void>;
  /** Pastes as a terminal does, with the marks of a paste where the program has asked for them. */
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** What stands on the screen, line by line; with `history`, also what has scrolled away. `styles` keeps colours. */
  screen(options?: { readonly history?: boolean; readonly styles?: boolean }): Promise<string>;
  /** Waits until the text stands on the screen. */
  shows(text: string | RegExp): Promise<void>;
  /** Waits until the text stands there no more. */
  hides(text: string | RegExp): Promise<void>;
  /** Reads nothing that the program writes while the work is done: a terminal slower than its output. */
  stall(work: () => Promise<void>): Promise<void>;
  /** The bytes that the program holds now, with the programs that it has started. Linux only. */
  memory(): Promise<number>;
  /** Waits until the program has ended, and returns its exit code. */
  ended(): Promise<number>;
}

const COLUMNS = 80;
const ROWS = 24;

/** Runs the command. */
export async function openTmux(
  command: readonly string[],
  { env = {}, cwd, columns = COLUMNS, rows = ROWS }: TmuxOptions = {},
): Promise<TmuxScreen> {
  const socket = `drawbridge-test-${randomUUID()}`;
  const tmux = async (...words: string[]) =>
    (await promisify(execFile)('tmux', ['-L', socket, '-f', '/dev/null', ...words])).stdout;
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const program = ['env', ...settings, ...command].map(shellWord).join(' ');
  // The screen stays when the program ends, with its exit code on the last line, also for a Ctrl-C that comes too late.
  const line = `trap : INT; ${program}; code=$?; trap '' INT; echo "[ended $code]"; sleep 600`;
  const size = ['-x', String(columns), '-y', String(rows)];
  await tmux('new-session', '-d', ...size, ...(cwd === undefined ? [] : ['-c', cwd]), line);
  onTestFinished(() => void spawnSync('tmux', ['-L', socket, 'kill-server']));
  const pane = (await tmux('display-message', '-p', '#{pane_pid}')).trim();
  let seen = '';
  onTestFailed(() => console.error(`The screen of ${command.join(' ')}:\n${seen}`));
  const screen: TmuxScreen['screen'] = async ({ history = false, styles = false } = {}) => {
    const options = [...(history ? ['-S', '-'] : []), ...(styles ? ['-e'] : [])];
    seen = await tmux('capture-pane', '-p', ...options);
    return seen;
  };
  return {
    type: async (text) => void (await tmux('send-keys', '-l', text)),
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    paste: async (text) => {
      await tmux('set-buffer', text);
      await tmux('paste-buffer', '-p');
    },
    resize: async (width, height) =>
      void (await tmux('resize-window', '-x', String(width), '-y', String(height))),
    screen,
    shows: async (text) => await expect.poll(() => screen()).toMatch(text),
    stall: async (work) => {
      const server = Number(await tmux('display-message', '-p', '#{pid}'));
      process.kill(server, 'SIGSTOP');
      try {
        await work();
      } finally {
        process.kill(server, 'SIGCONT');
      }
    },
    memory: async () => memoryBelow(pane),
    hides: async (text) => await expect.poll(() => screen()).not.toMatch(text),
    ended: async () => {
      await expect.poll(() => screen()).toMatch(/\[ended \d+\]/);
      return Number(/\[ended (\d+)\]/.exec(await screen())?.[1]);
    },
  };
}

/** The resident bytes of all descendants of the process. */
function memoryBelow(pid: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/);
  return children
    .filter((child) => child !== '')
    .reduce((sum, child) => {
      const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child}/status`, 'utf8')) ?? [];
      return sum + Number(kib ?? 0) * 1024 + memoryBelow(child);
    }, 0);
}
