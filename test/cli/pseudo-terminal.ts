/** A program that only adds lines, at a real terminal: `script` of Linux gives it one. test/cli/tmux.ts has screens. */
import { onTestFailed } from 'vitest';
import { shellWord } from '../../machine/shell-word.ts';
import { MINUTE } from '../../shared/units.ts';
import { startDrawbridge } from './drawbridge.ts';

export const HAS_TERMINALS = process.platform === 'linux';

export interface PseudoTerminal {
  /** As a person or a paste sends it. */
  type(text: string): void;
  /** Waits until this text, without colours and cursor moves, stands on the screen so many times. */
  shows(text: string, times?: number): Promise<void>;
  screen(): string;
  readonly finished: Promise<{ readonly code: number | null }>;
}

/** Many times what any screen needs on a slow machine; a test of ten minutes would say less. */
const LATE_MS = 3 * MINUTE;

/** Runs the command in a terminal of its own, 80 columns wide. */
export function openPseudoTerminal(
  command: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): PseudoTerminal {
  const quoted = command.map(shellWord).join(' ');
  const line = `stty cols 80 rows 24; exec ${quoted}`;
  const started = startDrawbridge([], {
    ...options,
    env: { TERM: 'xterm', NO_COLOR: '1', DRAWBRIDGE_PLAIN: '1', ...options.env },
    program: ['script', '-qec', line, '/dev/null'],
    input: null,
  });
  let output = '';
  const waiting = new Set<() => void>();
  started.process.stdout?.on('data', (text: string) => {
    output += text;
    for (const look of waiting) look();
  });
  const screen = () => plainTextOf(output);
  onTestFailed(() => console.error(`The screen of ${command.join(' ')}:\n${screen()}`));
  return {
    type: (text) => void started.process.stdin?.write(text),
    screen,
    shows: (text, times = 1) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (screen().split(text).length <= times) return;
          waiting.delete(look);
          clearTimeout(late);
          resolve();
        };
        waiting.add(look);
        const fail = () => reject(new Error(`It never showed ${text}: ${screen()}`));
        const late = setTimeout(fail, LATE_MS);
        started.finished.then(fail);
        look();
      }),
    finished: started.finished,
  };
}

function plainTextOf(output: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  return output.replaceAll(/\u001b\[\??[\d;]*[A-Za-z]/g, '').replaceAll('\r', '');
}
