/** Finds model servers that run on this machine, and asks them for their models. */
import * as z from 'zod';
import { MODEL_LIMITS } from '../../shared/limits.ts';
import { parseJson } from '../../shared/text/json.ts';
import { LOCAL_LIMITS } from '../limits.ts';

/** A server that has answered. `models` may be empty. */
export interface FoundServer {
  readonly name: string;
  /** What `baseUrl` of config.json must be. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

/** How a kind of server is recognised: by a path of its own, or by words of its own in the answer. */
interface ModelServerKind {
  readonly name: string;
  /** Where its documentation says that it listens. */
  readonly origin: string;
  readonly path: string;
  /** The names of the models that chat, out of the answer. */
  readonly models: z.ZodType<string[]>;
}

const ModelName = z.string().min(1).max(MODEL_LIMITS.maxNameChars);

/** Sources: Ollama's docs/api.md, LM Studio's REST API v0, llama.cpp's tools/server/README.md. */
const KINDS: readonly ModelServerKind[] = [
  {
    name: 'Ollama',
    origin: 'http://127.0.0.1:11434',
    path: '/api/tags',
    models: z
      .object({ models: z.array(z.object({ name: ModelName })) })
      .transform(({ models }) => models.map(({ name }) => name)),
  },
  {
    name: 'LM Studio',
    origin: 'http://127.0.0.1:1234',
    path: '/api/v0/models',
    models: z
      .object({ data: z.array(z.object({ id: ModelName, type: z.string() })) })
      .transform(({ data }) =>
        data.filter(({ type }) => type !== 'embeddings').map(({ id }) => id),
      ),
  },
  {
    name: 'llama.cpp',
    origin: 'http://127.0.0.1:8080',
    path: '/v1/models',
    // Many programs listen on 8080, and many have this path.
    models: z
      .object({ data: z.array(z.object({ id: ModelName, owned_by: z.literal('llamacpp') })) })
      .transform(({ data }) => data.map(({ id }) => id)),
  },
];

/** Asks all kinds at once, for at most LOCAL_LIMITS.probeMs. Tests give other origins, in the order of the kinds. */
export async function findModelServers(
  signal: AbortSignal,
  origins: readonly string[] = KINDS.map(({ origin }) => origin),
): Promise<FoundServer[]> {
  const found = await Promise.all(
    KINDS.map(async ({ name, path, models }, index) => {
      const origin = origins[index] ?? '';
      const answer = models.safeParse(
        await readJson(`${origin}${path}`, LOCAL_LIMITS.probeMs, signal),
      );
      return answer.success ? [{ name, baseUrl: `${origin}/v1`, models: answer.data }] : [];
    }),
  );
  signal.throwIfAborted();
  return found.flat();
}

const OpenAiModels = z.object({ data: z.array(z.object({ id: ModelName })) });

/** What a server answers that is asked for its models: them, or why there is no list. */
export type ModelListing =
  | { readonly outcome: 'listed'; readonly models: readonly string[] }
  | { readonly outcome: 'refused' | 'unreachable' | 'unlisted'; readonly why: string };

/**
 * Asks an OpenAI-compatible server, or Anthropic's, for the names of its models. `refused`: it wants another key.
 * `unlisted`: a server answers, but not with a list.
 */
export async function listModelsAt(
  baseUrl: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<ModelListing> {
  const url = `${baseUrl.replace(/\/+$/, '')}/models`;
  const either = AbortSignal.any([signal, AbortSignal.timeout(LOCAL_LIMITS.modelListMs)]);
  try {
    const response = await fetch(url, { signal: either, redirect: 'error', headers });
    const { status } = response;
    if (status === 401 || status === 403) return { outcome: 'refused', why: `HTTP ${status}` };
    const text = await readTextWithin(response, LOCAL_LIMITS.maxModelListChars);
    const answer = OpenAiModels.safeParse(response.ok ? parseJson(text) : undefined);
    if (!answer.success) return { outcome: 'unlisted', why: `HTTP ${status} without a list` };
    return { outcome: 'listed', models: answer.data.data.map(({ id }) => id) };
  } catch (error) {
    signal.throwIfAborted();
    return { outcome: 'unreachable', why: causeOf(error) };
  }
}

/** `fetch failed` says nothing: its cause does. */
function causeOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message);
}

/** Undefined for anything but JSON that comes in time. */
async function readJson(url: string, timeoutMs: number, signal: AbortSignal): Promise<unknown> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetch(url, { signal: either, redirect: 'error' });
    const text = await readTextWithin(response, LOCAL_LIMITS.maxModelListChars);
    return response.ok ? parseJson(text) : undefined;
  } catch {
    // No server, a late one, or another program: the person is offered something else.
    return undefined;
  }
}

/** The body as text. @throws for a body of more UTF-16 units than `maxChars`, which is read no further. */
async function readTextWithin(response: Response, maxChars: number): Promise<string> {
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > maxChars) throw new RangeError('The answer is too long.');
  }
  return text;
}
