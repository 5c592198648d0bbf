/** What a message says: the prompt, what is piped in below it, and images. */
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import type { ImagePart, MessageContent } from '../../shared/requests.ts';
import { readPiped } from '../terminal/piped-input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** As a word of the prompt: that the input is waited for however long it takes. */
const INPUT = '-';

/**
 * The prompt with what is piped in. Without a prompt, or with `-` in it, the input is waited for to its end; beside a
 * prompt an input that stays silent is passed over, and the person is told.
 * @throws {UsageError} when it is more than a message holds.
 */
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
    `The message is too long: ${message.length} characters, and it may hold ${REQUEST_LIMITS.maxMessageChars}.`,
  );
}

const SILENT =
  'drawbridge: nothing came on stdin, so it is left out; "-" as a word of the prompt waits for it.\n';

/** Text alone, or text and images in OpenAI's form. */
export function toContent(text: string, images: readonly ImagePart[]): MessageContent {
  if (images.length === 0) return text;
  return [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...images];
}
