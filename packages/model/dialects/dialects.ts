/** The table of dialects. */
import type { ModelDialect } from '../../../shared/settings/dialects.ts';
import { AnthropicReader } from './anthropic/events.ts';
import { formatAnthropic } from './anthropic/format.ts';
import { CHAT_READER } from './chat/chunk.ts';
import { formatChat } from './chat/format.ts';
import type { Dialect } from './dialect.ts';
import { ResponsesReader } from './responses/events.ts';
import { formatResponses } from './responses/format.ts';

/** Reads what the demo model and most servers send. */
export const DEFAULT_READER = CHAT_READER;

/** Each dialect by its name in `MODELS`. */
export const DIALECTS: Readonly<Record<ModelDialect, Dialect>> = {
  /** OpenAI's Chat Completions, which most servers speak. */
  chat: {
    path: '/chat/completions',
    format: formatChat,
    newReader: () => CHAT_READER,
    lacks: [],
    hasThinkTags: true,
  },
  anthropic: {
    path: '/messages',
    format: formatAnthropic,
    newReader: (model) => new AnthropicReader(model),
    lacks: ['seed'],
    hasThinkTags: false,
  },
  responses: {
    path: '/responses',
    format: formatResponses,
    newReader: (model) => new ResponsesReader(model),
    lacks: ['stop', 'seed'],
    hasThinkTags: false,
  },
};
