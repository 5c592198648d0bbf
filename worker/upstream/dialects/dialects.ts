/** The table of dialects. */
import { CHAT_READER } from './chat/chunk.ts';
import { formatChat } from './chat/format.ts';
import type { Dialect } from './dialect.ts';

/** OpenAI's Chat Completions, which most servers speak. */
export const CHAT: Dialect = {
  path: '/chat/completions',
  headers: bearer,
  format: formatChat,
  newReader: () => CHAT_READER,
};

function bearer(apiKey: string | null): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
