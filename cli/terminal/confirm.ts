/** Asks for a yes before a command changes or removes something. */
import { LocalError } from '../../machine/local-error.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Returns only after a clear yes. `unasked`: how to do without a question. @throws {UsageError | LocalError} */
export async function askFirst(
  terminal: Terminal,
  question: string,
  { unasked, otherwise }: { readonly unasked: string; readonly otherwise: string },
): Promise<void> {
  if (!terminal.isInteractive) throw new UsageError(`There is no terminal to ask at: ${unasked}`);
  const answer = await terminal.ask(`${question} y or n: `);
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return;
  throw new LocalError('failed', otherwise);
}
