/** Text that is piped in. */
import type { Readable } from 'node:stream';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { CLI_LIMITS } from '../limits.ts';
import { UsageError } from './usage-error.ts';

/** How long it may take until the first of it comes: `briefly` for input that may only look like a pipe. */
export type Patience = 'briefly' | 'forever';

/**
 * All of the input, or null when nothing had come in time. Many a parent (cron, CI, ssh) leaves an open pipe behind
 * that nobody ever writes to, and nothing tells it from a slow one.
 * @throws {UsageError} when it is more than a message holds, or cannot be read.
 */
export async function readPiped(input: Readable, patience: Patience): Promise<string | null> {
  let text = '';
  let isSilent = false;
  const giveUp = () => {
    isSilent = true;
    input.destroy();
  };
  const timer = patience === 'briefly' ? setTimeout(giveUp, CLI_LIMITS.firstInputMs) : undefined;
  try {
    for await (const piece of input.setEncoding('utf8')) {
      clearTimeout(timer);
      text += piece;
      if (text.length > REQUEST_LIMITS.maxMessageChars) throw new UsageError(TOO_LONG);
    }
    return text;
  } catch (cause) {
    if (isSilent) return null;
    if (cause instanceof UsageError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`What is piped in cannot be read: ${why}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

const TOO_LONG =
  'What is piped in is longer than the ' +
  `${REQUEST_LIMITS.maxMessageChars} characters that a message may hold.`;
