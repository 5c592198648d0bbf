/**
 * Reads the lists of an MCP server, page by page, each within one time and one number. The SDK's own methods would read
 * every page before they answer.
 */
import type {
  Client,
  Prompt,
  RequestOptions,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/client';
import { MCP_LIMITS } from '../limits.ts';

/** What a server offers beside its tools, at most `MCP_LIMITS.maxTools` of each. */
export interface Offering {
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
  readonly prompts: readonly Prompt[];
}

/** Empty for a server without tools. Rejects with an error of the SDK. */
export async function listTools(client: Client, signal: AbortSignal): Promise<Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  return await allPages(signal, async (params, options) => {
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, options);
    return { items: tools, nextCursor };
  });
}

/** Never rejects. */
export async function listOffering(client: Client, signal: AbortSignal): Promise<Offering> {
  const { resources, prompts } = client.getServerCapabilities() ?? {};
  /** A server that has tools but fails here stays useful. */
  const listed = <Item>(isThere: unknown, next: NextPage<Item>): Promise<Item[]> =>
    isThere === undefined ? Promise.resolve([]) : allPages(signal, next).catch(() => []);
  return {
    resources: await listed(resources, async (params, options) => {
      const request = { method: 'resources/list', params } as const;
      const { resources: items, nextCursor } = await client.request(request, options);
      return { items, nextCursor };
    }),
    templates: await listed(resources, async (params, options) => {
      const request = { method: 'resources/templates/list', params } as const;
      const page = await client.request(request, options);
      return { items: page.resourceTemplates, nextCursor: page.nextCursor };
    }),
    prompts: await listed(prompts, async (params, options) => {
      const request = { method: 'prompts/list', params } as const;
      const { prompts: items, nextCursor } = await client.request(request, options);
      return { items, nextCursor };
    }),
  };
}

type NextPage<Item> = (
  params: { readonly cursor?: string },
  options: RequestOptions,
) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | undefined }>;

/** The pages of a list, within one time and one number for all of them. */
async function allPages<Item>(signal: AbortSignal, next: NextPage<Item>): Promise<Item[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MCP_LIMITS.listMs)]);
  const options = { signal: limit, timeout: MCP_LIMITS.listMs };
  const all: Item[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MCP_LIMITS.maxPages; page++) {
    const { items, nextCursor } = await next(cursor === undefined ? {} : { cursor }, options);
    all.push(...items.slice(0, MCP_LIMITS.maxTools - all.length));
    cursor = nextCursor;
    if (cursor === undefined || all.length >= MCP_LIMITS.maxTools) break;
  }
  return all;
}
