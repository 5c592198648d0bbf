/** Asks the search service that the bridge's owner has set up. */

import * as z from 'zod';
import { compute } from '../../machine/compute/compute.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { parseJson } from '../../shared/text/json.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { WEB_LIMITS } from './page.ts';

/** The forms of request and answer. */
export type SearchShape = keyof typeof SHAPES;

export interface SearchService {
  readonly shape: SearchShape;
  /** In place of the service's own address. A SearXNG has none of its own. */
  readonly url?: string | undefined;
  /** Absent for a service without a key. Rejects where the key cannot be had. */
  readonly readKey?: ((signal: AbortSignal) => Promise<string>) | undefined;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/**
 * The results that the service gives, `count` at most. Only addresses of the web are among them; texts have no markup and
 * are cut. Throws a {@link ToolFailure} with a sentence for the model, which has no word of the service's.
 */
export async function searchWeb(
  service: SearchService,
  { query, count }: { readonly query: string; readonly count: number },
  signal: AbortSignal,
): Promise<SearchResult[]> {
  const key = await keyOf(service, signal);
  const { request, results } = SHAPES[service.shape];
  const { url, ...init } = request({ base: service.url, query, count, key });
  const time = AbortSignal.timeout(SEARCH_LIMITS.maxMs);
  const text = await answerOf(url, { ...init, signal: AbortSignal.any([signal, time]) }).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof ToolFailure) throw error;
      throw failed(time.aborted ? 'did not answer in time' : 'cannot be reached', error);
    },
  );
  const found = results(jsonOf(text)).filter(({ url: address }) => isWebAddress(address));
  return await Promise.all(found.slice(0, count).map((result) => readable(result, signal)));
}

async function keyOf({ readKey }: SearchService, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await readKey?.(signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ToolFailure(
      'SEARCH_KEY_REFUSED',
      `The key of the search service cannot be read. ${OWNER}`,
      {
        cause: error,
      },
    );
  }
}

async function answerOf(url: string, init: RequestInit): Promise<string> {
  // A redirect could take the key elsewhere.
  const response = await fetch(url, { ...init, redirect: 'manual' });
  if (response.status === 200) return await boundedText(response);
  await response.body?.cancel();
  if (response.status === 401 || response.status === 403) {
    const why = `The search service refused its key (${response.status}). ${OWNER}`;
    throw new ToolFailure('SEARCH_KEY_REFUSED', why);
  }
  if (response.status === 429) {
    const why =
      'The search service takes no more queries at the moment (429): wait a minute, or work without it.';
    throw new ToolFailure('SEARCH_LIMITED', why);
  }
  throw failed(`answered ${response.status}`);
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > WEB_LIMITS.maxBytes) throw failed('sent an answer that is too long');
  }
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw failed('did not answer with JSON', error);
  }
}

/** Snippets of some services have HTML in them. */
async function readable(found: SearchResult, signal: AbortSignal): Promise<SearchResult> {
  const { url } = found;
  const plain = async (html: string, maxChars: number) => {
    const text = await compute(CONTENT_TASKS.markdownOfHtml, { html, base: url }, signal);
    return text.replace(/\s+/g, ' ').slice(0, maxChars).toWellFormed();
  };
  const { maxTitleChars, maxSnippetChars } = SEARCH_LIMITS;
  const [title, snippet] = [
    plain(found.title, maxTitleChars),
    plain(found.snippet, maxSnippetChars),
  ];
  return { url, title: await title, snippet: await snippet };
}

function isWebAddress(url: string): boolean {
  return (
    url.length <= SEARCH_LIMITS.maxUrlChars && /^https?:\/\/[^\s]+$/i.test(url) && URL.canParse(url)
  );
}

interface SearchQuestion {
  readonly base: string | undefined;
  readonly query: string;
  readonly count: number;
  readonly key: string | undefined;
}

interface ServiceShape {
  readonly request: (question: SearchQuestion) => RequestInit & { readonly url: string };
  /** Throws a {@link ToolFailure} for another form. */
  readonly results: (answer: unknown) => SearchResult[];
}

const Text = z.string().nullish();

/** Fields that a service leaves out are empty. */
const Found = z.object({ title: Text, url: z.string(), content: Text, description: Text });
const Listed = z.object({ results: z.array(Found) });
const Brave = z.object({ web: Listed.nullish() });

/** A new service is one more row. */
const SHAPES = {
  searxng: {
    request: ({ base = '', query, key }) => ({
      url: address(`${base.replace(/\/+$/, '')}/search`, { q: query, format: 'json' }),
      headers: bearer(key),
    }),
    results: (answer) => listed(Listed.safeParse(answer).data?.results),
  },
  brave: {
    request: ({ base = 'https://api.search.brave.com/res/v1/web/search', query, count, key }) => ({
      url: address(base, { q: query, count: String(count) }),
      headers: { accept: 'application/json', ...(key && { 'x-subscription-token': key }) },
    }),
    results: (answer) => {
      const { success, data } = Brave.safeParse(answer);
      return listed(success ? (data.web?.results ?? []) : undefined);
    },
  },
  tavily: {
    request: ({ base = 'https://api.tavily.com/search', query, count, key }) => ({
      url: base,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(key) },
      body: JSON.stringify({ query, max_results: count }),
    }),
    results: (answer) => listed(Listed.safeParse(answer).data?.results),
  },
} satisfies Record<string, ServiceShape>;

function address(base: string, fields: Record<string, string>): string {
  const url = new URL(base);
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  return url.href;
}

function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function listed(found: readonly z.infer<typeof Found>[] | undefined): SearchResult[] {
  if (!found) throw failed('answered in another form than its "shape" has');
  return found.map(({ title, url, content, description }) => ({
    title: title ?? url,
    url,
    snippet: content ?? description ?? '',
  }));
}

function failed(why: string, cause?: unknown): ToolFailure {
  return new ToolFailure('SEARCH_FAILED', `The search service ${why}. ${OWNER}`, { cause });
}

const OWNER = 'Its owner sees to it with "webSearch" in config.json; go on without a search.';

const SEARCH_LIMITS = {
  /** Milliseconds for an answer: services take one or two seconds, a SearXNG waits for its slowest engine. */
  maxMs: 15_000,
  /** UTF-16 units of a result's texts and of its address. */
  maxTitleChars: 200,
  maxSnippetChars: 600,
  maxUrlChars: 2_000,
} as const;
