/** Computes the room of a model and the sizes of messages, in UTF-16 units. Pure. */

import type { UpstreamMessage } from '../../../../packages/model/index.ts';
import type { ModeWords } from '../../../../packages/prompt/index.ts';
import type { Window, WindowScale } from '../../store/rows.ts';
import { WINDOW_LIMITS } from './limits.ts';

/** The limits of a model, and the fixed part of every request. */
export interface ModelSize {
  readonly model: string;
  readonly takesImages: boolean;
  /** Tokens of prompt and answer together; undefined where unknown. */
  readonly contextWindow: number | undefined;
  /** Undefined where the server decides. */
  readonly maxOutputTokens: number | undefined;
  /** UTF-16 units of the system prompt and of the tools' definitions. */
  readonly fixedChars: number;
  /** What a message says about another mode; undefined for the built-in words. */
  readonly modeWords?: ModeWords | undefined;
}

/** The scale of the window, which applies until a turn has measured a better one. */
export function scaleOf(window: Window | null): WindowScale {
  const { tokensPerChar } = WINDOW_LIMITS;
  return window?.scale ?? { since: 0, tokensPerChar, refused: null };
}

/** The UTF-16 units that a whole request may take. */
export function roomOf(
  size: Omit<ModelSize, 'fixedChars' | 'modeWords'>,
  { tokensPerChar, refused }: WindowScale,
): number {
  const window = size.contextWindow ?? WINDOW_LIMITS.defaultTokens;
  const room = Math.floor((window - reserveOf(size, window)) / tokensPerChar);
  return refused?.model === size.model ? Math.min(room, refused.chars) : room;
}

/** The tokens that are reserved for the answer. */
function reserveOf(
  { maxOutputTokens }: Pick<ModelSize, 'maxOutputTokens'>,
  window: number,
): number {
  const { reserveTokens, maxReserveShare, maxAskedReserveShare } = WINDOW_LIMITS;
  return maxOutputTokens === undefined
    ? Math.min(reserveTokens, window * maxReserveShare)
    : Math.min(maxOutputTokens, window * maxAskedReserveShare);
}

/** Whether a prompt of `chars` UTF-16 units can have as few as `promptTokens` tokens. */
export function isWhole(promptTokens: number, chars: number): boolean {
  return promptTokens >= chars * WINDOW_LIMITS.cutTokensPerChar;
}

/** Tokens per UTF-16 unit, within possible bounds whatever an upstream reports. */
export function tokensPerChar(promptTokens: number, chars: number): number {
  const { minTokensPerChar, maxTokensPerChar } = WINDOW_LIMITS;
  return Math.min(maxTokensPerChar, Math.max(minTokensPerChar, promptTokens / Math.max(1, chars)));
}

/** The UTF-16 units of these messages, with their frames. Without reasoning, which few servers get back. */
export function weigh(messages: readonly UpstreamMessage[]): number {
  return messages.reduce((sum, message) => sum + weighMessage(message), 0);
}

/** The UTF-16 units in memory beyond {@link weigh}: reasoning, and images as they are sent. */
export function hiddenChars(messages: readonly UpstreamMessage[]): number {
  return messages.reduce((sum, message) => {
    if (message.role === 'assistant') return sum + (message.reasoning?.length ?? 0);
    if (typeof message.content === 'string') return sum;
    const parts = message.content ?? [];
    return parts.reduce((all, part) => {
      return all + (part.type === 'image_url' ? part.image_url.url.length : 0);
    }, sum);
  }, 0);
}

function weighMessage(message: UpstreamMessage): number {
  const { messageChars } = WINDOW_LIMITS;
  const own = messageChars + weighContent(message.content);
  if (message.role !== 'assistant') return own;
  const { reasoning_details: details, tool_calls: calls = [] } = message;
  const thought = details ? JSON.stringify(details).length : 0;
  return calls.reduce((sum, call) => sum + JSON.stringify(call).length, own + thought);
}

/** A large file counts for more: the window bounds the memory of a request, too. */
function imageChars(part: object): number {
  const { imageChars: least, imageShare } = WINDOW_LIMITS;
  const url = 'image_url' in part ? Object(part.image_url).url : '';
  return Math.max(least, Math.floor(String(url).length / imageShare));
}

function weighContent(content: UpstreamMessage['content']): number {
  if (typeof content === 'string') return content.length;
  return (content ?? []).reduce((sum, part) => {
    return sum + ('text' in part ? part.text.length : imageChars(part));
  }, 0);
}
