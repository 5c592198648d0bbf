/** Builds a message from the prompt, the piped input below it, and images. */

import type { ImagePart, MessageContent } from '../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { type ChosenPaths, withChosen } from '../../shared/text/mention-text.ts';
import { readPiped } from '../terminal/piped-input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** This word in a prompt means: wait for the input without a time limit. */
const INPUT = '-';

/** The prompt with piped input below it, awaited with no prompt or `-`. @throws {UsageError} if it is too long. */
export async function readMessage(
  { piped, write }: Pick<Terminal, 'piped' | 'write'>,
  words: readonly string[],
): Promise<string> {
  const prompt = words.filter((word) => word !== INPUT).join(' ');
  const isInputWanted = words.includes(INPUT) || prompt.trim() === '';
  if (!piped) return prompt;
  const input = await readPiped(piped, isInputWanted ? 'forever' : 'briefly');
  if (input === null) write(SILENT);
  const message = [prompt, input ?? ''].filter((part) => part.trim() !== '').join('\n\n');
  if (message.length <= REQUEST_LIMITS.maxMessageChars) return message;
  throw new UsageError(
    `The message is too long: it has ${message.length} characters and may have at most ${REQUEST_LIMITS.maxMessageChars}.`,
  );
}

const SILENT =
  'drawbridge: nothing came on stdin, so only the prompt is sent; add "-" to the prompt to wait for stdin.\n';

/** The text alone, or text, the paths that were chosen for it, and images. */
export function toContent(
  text: string,
  images: readonly ImagePart[],
  chosen: ChosenPaths = new Map(),
): MessageContent {
  const said = withChosen(text, chosen);
  if (images.length === 0) return said;
  const words = typeof said === 'string' ? [{ type: 'text' as const, text: said }] : said;
  return [...(text.trim() === '' ? [] : words), ...images];
}

/** Messages for a person who has none yet. Each does something in any folder, also with the demo model. */
export const EXAMPLES = [
  'what is in this project',
  'create hello.md with Good morning, then run wc -w hello.md',
  'search for TODO',
] as const;
