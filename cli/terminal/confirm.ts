/** A question before something that matters. */
import { LocalError } from '../../machine/local-error.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/**
 * Returns only after a clear yes. `otherwise` says what did not happen.
 * @throws {UsageError} where nobody can be asked. @throws {LocalError} after anything else than a yes.
 */
export async function askFirst(
  terminal: Terminal,
  question: string,
  { unasked, otherwise }: { readonly unasked: string; readonly otherwise: string },
): Promise<void> {
  if (!terminal.isInteractive) throw new UsageError(`Nobody can be asked here: ${unasked}`);
  const answer = await terminal.ask(`${question} y or n: `);
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return;
  throw new LocalError('failed', otherwise);
}
