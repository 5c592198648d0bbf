/** The table of dialects. */
import type { ModelDialect } from '../../../shared/models.ts';
import { AnthropicReader } from './anthropic/events.ts';
import { formatAnthropic } from './anthropic/format.ts';
import { CHAT_READER } from './chat/chunk.ts';
import { formatChat } from './chat/format.ts';
import type { Dialect } from './dialect.ts';
import { ResponsesReader } from './responses/events.ts';
import { formatResponses } from './responses/format.ts';

/** Each dialect by its name in `MODELS`. */
export const DIALECTS: Readonly<Record<ModelDialect, Dialect>> = {
  /** OpenAI's Chat Completions, which most servers speak. */
  chat: {
    path: '/chat/completions',
    headers: bearer,
    format: formatChat,
    newReader: () => CHAT_READER,
  },
  /** Anthropic's Messages. */
  anthropic: {
    path: '/messages',
    headers: (apiKey) => ({
      'anthropic-version': '2023-06-01',
      ...(apiKey !== null && { 'x-api-key': apiKey }),
    }),
    format: formatAnthropic,
    newReader: (model) => new AnthropicReader(model),
  },
  /** OpenAI's Responses. */
  responses: {
    path: '/responses',
    headers: bearer,
    format: formatResponses,
    newReader: (model) => new ResponsesReader(model),
  },
};

function bearer(apiKey: string | null): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
