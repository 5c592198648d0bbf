/** Asks the embeddings endpoint of an OpenAI-compatible server for the vectors of texts. */
import { once } from 'node:events';
import * as z from 'zod';
import { maskSecrets } from '../../machine/secrets/filter.ts';
import { parseJson } from '../../shared/text/json.ts';

import { INDEX_LIMITS } from './limits.ts';

/** The owner's model for vectors. */
export interface EmbeddingService {
  /** Without `/embeddings`. */
  readonly baseUrl: string;
  /** The model's name at the server. */
  readonly model: string;
  /** Whether the server keeps nothing of a request: the owner's word. */
  readonly isPrivate: boolean;
  /** Absent for a server without a key. Rejects where the key cannot be had. */
  readonly readKey?: ((signal: AbortSignal) => Promise<string>) | undefined;
}

/** Why there are no vectors. */
export class EmbeddingFailure extends Error {
  readonly code: FailureCode;
  /** Milliseconds that the server wants the next attempt to wait. */
  readonly waitMs: number | undefined;

  constructor(code: FailureCode, options: { cause?: unknown; waitMs?: number | undefined } = {}) {
    super(REASONS[code], { cause: options.cause });
    this.code = code;
    this.waitMs = options.waitMs;
  }
}

export type FailureCode = keyof typeof REASONS;

/** Sentences for people. None has a word of the server's, which could be the key or the texts. */
const REASONS = {
  KEY_UNREADABLE: 'its key cannot be read',
  KEY_REFUSED: 'the server refuses the key',
  NOT_FOUND: 'the server has no such model, or no /embeddings (404)',
  TEXT_REFUSED: 'the server refuses the text',
  BUSY: 'the server is busy (429 or 503)',
  REFUSED: 'the server answers with an error',
  UNREACHABLE: 'the server cannot be reached',
  LATE: 'the server did not answer in time',
  BAD_ANSWER: 'the server does not answer with vectors',
  OTHER_LENGTH: 'the server changes the length of its vectors',
} as const;

/** One model at its server. */
export class Embedder {
  readonly #service: EmbeddingService;
  readonly #signal: AbortSignal;
  /** Kept while the server takes it: a command that prints it may ask the person. */
  #key: Promise<string | undefined> | undefined;

  /** `signal` ends the reading of the key. */
  constructor(service: EmbeddingService, signal: AbortSignal) {
    this.#service = service;
    this.#signal = signal;
  }

  /** Vectors of two names cannot be compared. */
  get name(): string {
    return `${this.#service.model} ${this.#service.baseUrl}`;
  }

  /** For people: without a user's name and password. */
  get server(): string {
    return new URL(this.#service.baseUrl).origin;
  }

  get isPrivate(): boolean {
    return this.#service.isPrivate;
  }

  /** A vector for each text, in their order. Throws an {@link EmbeddingFailure}, and the signal's reason once it aborts. */
  async embed(
    texts: readonly string[],
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<Float32Array[]> {
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const text = await this.#ask(texts, AbortSignal.any([signal, late]));
      return vectorsOf(text, texts.length);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EmbeddingFailure) throw error;
      throw new EmbeddingFailure(late.aborted ? 'LATE' : 'UNREACHABLE', { cause: error });
    }
  }

  async #ask(texts: readonly string[], signal: AbortSignal): Promise<string> {
    const { baseUrl, model } = this.#service;
    this.#key ??= this.#readKey();
    const key = await Promise.race([this.#key, abortOf(signal)]);
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/embeddings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, input: texts.map((text) => maskSecrets(sendable(text))) }),
      redirect: 'manual', // A redirect could take the key and the code elsewhere.
      signal,
    });
    if (response.status === 200) return await boundedText(response);
    await response.body?.cancel();
    const code = codeOf(response.status);
    if (code === 'KEY_REFUSED') this.#key = undefined;
    throw new EmbeddingFailure(code, { waitMs: waitOf(response.headers.get('retry-after')) });
  }

  /** For all requests that wait for it: it goes on where one of them ends. */
  async #readKey(): Promise<string | undefined> {
    try {
      return await this.#service.readKey?.(this.#signal);
    } catch (cause) {
      this.#key = undefined;
      throw new EmbeddingFailure('KEY_UNREADABLE', { cause });
    }
  }
}

async function abortOf(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  await once(signal, 'abort');
  throw signal.reason;
}

function sendable(text: string): string {
  return text.slice(0, INDEX_LIMITS.maxSentChars).toWellFormed();
}

function codeOf(status: number): FailureCode {
  if (status === 401 || status === 403) return 'KEY_REFUSED';
  if (status === 404) return 'NOT_FOUND';
  if (status === 400 || status === 413 || status === 422) return 'TEXT_REFUSED';
  return status === 429 || status === 503 ? 'BUSY' : 'REFUSED';
}

/** Seconds or a date; undefined for anything else. */
function waitOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > INDEX_LIMITS.maxAnswerBytes) throw new EmbeddingFailure('BAD_ANSWER');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const Answer = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative(),
      embedding: z.array(z.number()).min(1).max(INDEX_LIMITS.maxDimensions),
    }),
  ),
});

/** By the index that the answer gives each of them. All have one length, and none is zero. */
function vectorsOf(text: string, count: number): Float32Array[] {
  const { data } = parsed(text);
  const vectors: Float32Array[] = [];
  for (const { index, embedding } of data) vectors[index] = Float32Array.from(embedding);
  const { length } = vectors[0] ?? [];
  const isWhole =
    data.length === count && vectors.length === count && Object.keys(vectors).length === count;
  if (isWhole && vectors.every((vector) => vector.length === length && isDirection(vector)))
    return vectors;
  throw new EmbeddingFailure('BAD_ANSWER');
}

function parsed(text: string): z.infer<typeof Answer> {
  try {
    return Answer.parse(parseJson(text));
  } catch {
    throw new EmbeddingFailure('BAD_ANSWER'); // Without a cause: it quotes the answer.
  }
}

/** A number beyond a float's range is infinite here. */
function isDirection(vector: Float32Array): boolean {
  const squares = vector.reduce((sum, number) => sum + number * number, 0);
  return Number.isFinite(squares) && squares > 0;
}
