/** Reads piped input. */
import type { Readable } from 'node:stream';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { CLI_LIMITS } from '../limits.ts';
import { UsageError } from './usage-error.ts';

/** How long to wait for the first input: `briefly` for a pipe that may never bring any. */
export type Patience = 'briefly' | 'forever';

/** The whole input; null if none came in time, as of a pipe left open. @throws {UsageError} if it is of no use. */
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
    throw new UsageError(`The piped input cannot be read: ${why}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

const TOO_LONG =
  'The piped input is too long: ' +
  `a message may have at most ${REQUEST_LIMITS.maxMessageChars} characters.`;
