/** A command of the person, in the person's own shell. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { lastStates } from '../../render/tool.ts';
import { withInterruptsElsewhere } from '../../terminal/editor.ts';
import { INPUT_LIMITS } from './limits.ts';

export interface ShellResult {
  /** The last part of what it wrote; empty for a program that has drawn on the whole screen. */
  readonly output: string;
  /** How it ended, if not well. */
  readonly problem: string | undefined;
}

/**
 * Runs it with the terminal's keyboard. What it writes appears on the terminal at once, and is kept for the transcript.
 */
export async function runShell(command: string): Promise<ShellResult> {
  return await withInterruptsElsewhere(async () => {
    const shell = process.env['SHELL'] || 'sh';
    const child = spawn(shell, ['-c', command], { stdio: ['inherit', 'pipe', 'pipe'] });
    let output = '';
    const keep = (stream: Readable, terminal: NodeJS.WriteStream) => {
      stream.setEncoding('utf8').on('data', (text: string) => {
        terminal.write(text);
        output = `${output}${text}`.slice(-INPUT_LIMITS.maxOutputChars);
      });
    };
    keep(child.stdout, process.stdout);
    keep(child.stderr, process.stderr);
    const [code, signal] = await once(child, 'close');
    return { output: shownOf(output), problem: problemOf(code, signal) };
  });
}

function problemOf(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (signal) return `ended by ${signal}`;
  return code === 0 ? undefined : `exit code ${code}`;
}

/** The last lines, as a terminal shows them at the end. */
export function shownOf(output: string): string {
  if (output.includes(WHOLE_SCREEN)) return '';
  const lines = lastStates(output.trimEnd()).split('\n');
  const more = lines.length - INPUT_LIMITS.maxOutputLines;
  if (more <= 0) return lines.join('\n');
  return [`… ${more} lines before`, ...lines.slice(-INPUT_LIMITS.maxOutputLines)].join('\n');
}

/** Opens the second screen that editors and pagers draw on. */
const WHOLE_SCREEN = '\x1b[?1049h';
