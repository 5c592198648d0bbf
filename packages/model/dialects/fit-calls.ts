/** Makes names and ids of calls fit a server: what a model has invented, or another server has made, it may refuse. */

import type { ModelDialect } from '../../../shared/settings/dialects.ts';
import type { ServerTarget } from '../models.ts';
import type { UpstreamMessage, UpstreamRequest } from '../request.ts';

/**
 * The messages with names and ids that the server takes. An id that its own model has made goes back as it came: it can
 * hold what the server needs to see again.
 */
export function withFittingCalls(
  { model, messages }: UpstreamRequest,
  { dialect, switches: { callIds } }: ServerTarget,
): readonly UpstreamMessage[] {
  const form = callIds === 'nine' ? NINE : FORMS[dialect];
  const ids = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === 'tool') {
      const id = ids.get(message.tool_call_id);
      return id === undefined ? message : { ...message, tool_call_id: id };
    }
    if (message.role !== 'assistant') return message;
    const { by, tool_calls: calls, ...said } = message;
    if (!calls) return said;
    const isForeign = callIds === 'nine' || (by !== undefined && by !== model);
    const fitting = calls.map((call) => {
      const id = isForeign && !form.test(call.id) ? shortened(call.id) : call.id;
      ids.set(call.id, id);
      if (!('function' in call)) return { ...call, id };
      return { ...call, id, function: { ...call.function, name: nameFor(call.function.name) } };
    });
    return { ...said, tool_calls: fitting };
  });
}

const FORMS: Readonly<Record<ModelDialect, RegExp>> = {
  chat: /^.{1,40}$/s,
  anthropic: /^[\w-]{1,64}$/,
  responses: /^[\w-]{1,64}$/,
};

/** Mistral's, which every server takes. */
const NINE = /^[A-Za-z0-9]{9}$/;

/** OpenAI's form, which is the narrowest. */
function nameFor(name: string): string {
  const fitting = name.replace(/[^\w-]/g, '_').slice(0, MAX_NAME_CHARS);
  return fitting === '' ? '_' : fitting;
}

const MAX_NAME_CHARS = 64;

/** The same id for the same text: nine letters and digits of a hash (cyrb53, 53 bits). */
function shortened(id: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < id.length; at++) {
    const unit = id.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  const hash = 4294967296 * (2097151 & low) + (high >>> 0);
  return hash.toString(36).padStart(9, '0').slice(-9);
}
