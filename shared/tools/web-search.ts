import * as z from 'zod';
import { WEB_TOOL_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

/** Searches the web with the search service that the bridge's owner has set up. */
export const webSearch = defineTool({
  name: 'web_search',
  aliases: ['WebSearch'],
  description:
    'Search the web: gives titles, addresses and short texts. Read a page with web_fetch. ' +
    'Put no secret and no private code into the query.',
  arguments: z.object({
    query: z.string().trim().min(1).max(WEB_TOOL_LIMITS.maxQueryChars),
    count: z
      .int()
      .min(1)
      .max(WEB_TOOL_LIMITS.maxResults)
      .default(WEB_TOOL_LIMITS.defaultResults)
      .describe('Results wanted'),
  }),
  renamed: { search_term: 'query', q: 'query', max_results: 'count' },
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  reaches: 'web',
  needs: 'set "webSearch" in config.json on the machine of the bridge, and start the bridge again',
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: ({ query }) => query,
});
