/** Finds servers that read only a part of a long prompt (upstream facts, 2), by their own token count. Pure. */

import { CONTEXT_LENGTH_EXCEEDED, type UpstreamMessage } from '../../../packages/model/index.ts';
import type { Usage } from '../../../shared/wire/documents.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import { WINDOW_LIMITS } from './window/limits.ts';
import { isWhole } from './window/size.ts';

/** The report of a prompt that its server cannot have read whole; null where its token count does not show that. */
export function cutPromptReport(
  messages: readonly UpstreamMessage[],
  usage: Usage | null,
): ErrorReport | null {
  if (!usage) return null;
  // Some servers count cached tokens separately.
  const tokens = usage.promptTokens + (usage.cachedPromptTokens ?? 0);
  const { minCutTokens, tokensPerChar } = WINDOW_LIMITS;
  if (tokens < minCutTokens || isWhole(tokens, textChars(messages, lengthOf))) return null;
  const chars = textChars(messages, charsWithoutRuns);
  if (isWhole(tokens, chars)) return null;
  const sent = Math.round(chars * tokensPerChar);
  return {
    code: CONTEXT_LENGTH_EXCEEDED,
    source: 'upstream',
    message:
      `The model's server read only ${tokens} of about ${sent} tokens and reported no error. ` +
      "Raise the server's context length (Ollama: OLLAMA_CONTEXT_LENGTH), or set contextWindow for this model.",
  };
}

/** Leaves images out: their tokens differ more than tenfold. */
function textChars(
  messages: readonly UpstreamMessage[],
  charsOf: (text: string) => number,
): number {
  return messages.reduce((sum, { content }) => {
    if (typeof content === 'string') return sum + charsOf(content);
    return (content ?? []).reduce(
      (chars, part) => chars + ('text' in part ? charsOf(part.text) : 0),
      sum,
    );
  }, 0);
}

function lengthOf({ length }: string): number {
  return length;
}

/** The length with runs of equal characters counted once: a token takes dozens of them, as in padded tables. */
function charsWithoutRuns(text: string): number {
  return text.replace(/(.)\1{2,}/gs, '$1').length;
}
