/** A command of the person, in the person's own shell. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { inPlainSight } from '../../../shared/text/plain-sight.ts';
import { lastStates } from '../../render/tool.ts';
import { withInterruptsElsewhere } from '../../terminal/editor.ts';
import { INPUT_LIMITS } from './limits.ts';

/** Runs it on the terminal. Resolves to what stands there in the end: command, last output, and a bad ending. */
export async function runShell(command: string): Promise<string> {
  return await withInterruptsElsewhere(async () => {
    const shell = process.env['SHELL'] || 'sh';
    const head = `$ ${command}`;
    process.stdout.write(`${inPlainSight(head)}\n`);
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
    const end = problemOf(code, signal);
    if (end !== undefined) process.stdout.write(`${end}\n`);
    return [head, shownOf(output), end].filter(Boolean).join('\n');
  });
}

function problemOf(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (signal) return `(ended by ${signal})`;
  return code === 0 ? undefined : `(exit code ${code})`;
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
