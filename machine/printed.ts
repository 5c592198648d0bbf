/** Asks programs by what they print. A program that fails prints less, which looks like a shorter answer. */
import { execFile, spawnSync } from 'node:child_process';
import { isSystemError } from './system-error.ts';

export interface ProgramAnswer {
  readonly code: number;
  readonly output: string;
}

export interface HowAsked {
  /** The exit codes with which the output is an answer; 0 alone by default. */
  readonly meant?: readonly number[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** Rejects where the program does not start, a signal ends it, it is late, prints too much, or ends with another code. */
export function printedBy(
  [file, ...args]: readonly [file: string, ...args: string[]],
  { meant = [0], ...options }: HowAsked = {},
): Promise<ProgramAnswer> {
  return new Promise((resolve, reject) => {
    const given = { ...options, encoding: 'utf8' } as const;
    const child = execFile(file, args, given, (error, output) => {
      const code = child.exitCode;
      const isWhole = error === null || (error.code === code && !error.killed);
      if (isWhole && code !== null && meant.includes(code)) resolve({ code, output });
      else reject(error ?? new Error(`${file} ended with exit code ${code}`));
    });
  });
}

/** As {@link printedBy}, for those who cannot wait. */
export function printedAtOnceBy(
  [file, ...args]: readonly [file: string, ...args: string[]],
  { meant = [0], ...options }: HowAsked = {},
): ProgramAnswer {
  const { error, status, signal, stdout } = spawnSync(file, args, { ...options, encoding: 'utf8' });
  if (error === undefined && status !== null && meant.includes(status))
    return { code: status, output: stdout };
  throw error ?? new Error(`${file} ended with ${signal ?? `exit code ${status}`}`);
}

/**
 * A column of ps(1) about a process; empty where there is no such process, or no ps. Throws where ps fails: the process
 * may live then.
 */
export function psOf(column: 'lstart' | 'state', pid: number, ps = '/bin/ps'): string {
  try {
    const { output } = printedAtOnceBy([ps, '-o', `${column}=`, '-p', `${pid}`], { meant: [0, 1] });
    return output.trim();
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return '';
    throw error;
  }
}
