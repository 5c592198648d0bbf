/** Estimates tokens where a model server reports none. Pure. */

import {
  costOf,
  type ModelTarget,
  type UpstreamReply,
  type UpstreamRequest,
} from '../../../packages/model/index.ts';
import type { Usage } from '../../../shared/wire/documents.ts';
import { WINDOW_LIMITS } from './window/limits.ts';
import { weigh } from './window/size.ts';

/** By the number of characters. Has a cost if the prices are known. `reply` is null where nothing came. */
export function estimateUsage(
  { messages, tools }: UpstreamRequest,
  reply: UpstreamReply | null,
  target: ModelTarget,
): Usage {
  const promptTokens = tokensIn(weigh(messages) + JSON.stringify(tools).length);
  const completionTokens = tokensIn(reply ? charsOf(reply) : 0);
  const totalTokens = promptTokens + completionTokens;
  const usage = { promptTokens, completionTokens, totalTokens };
  const prices = target.kind === 'demo' ? undefined : target.prices;
  return prices ? { ...usage, cost: costOf(usage, prices) } : usage;
}

function tokensIn(chars: number): number {
  return Math.ceil(chars * WINDOW_LIMITS.tokensPerChar);
}

function charsOf({ text, reasoning, calls }: UpstreamReply): number {
  return text.length + (reasoning?.length ?? 0) + JSON.stringify(calls).length;
}
