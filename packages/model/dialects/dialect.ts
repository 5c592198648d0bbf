/** What distinguishes the APIs of model servers. Everything behind a dialect works with these types only. */

import type { Sampling } from '../../../shared/api/requests.ts';
import type { Usage } from '../../../shared/wire/documents.ts';
import type { CallDelta } from '../assembly.ts';
import { errorFromText, type UpstreamError } from '../errors.ts';
import type { JsonObject } from '../loose-json.ts';
import type { ServerTarget } from '../models.ts';
import type { UpstreamRequest } from '../request.ts';

/** One API of model servers: how a request is written, and how its answer is read. */
export interface Dialect {
  /** The path behind the server's base URL. */
  readonly path: string;
  /** The body of a request, which asks for a stream. */
  format(request: UpstreamRequest, target: ServerTarget): object;
  /** Begins to read an answer of the model with this name at its server. */
  newReader(model: string): AnswerReader;
  /** The settings of a client that the API lacks. */
  readonly lacks: readonly (keyof Sampling)[];
  /** Whether a `<think>` at the start of the text may enclose reasoning. */
  readonly hasThinkTags: boolean;
}

/** Reads the events of one answer in order. Any field may be missing, null, empty or of another type than documented. */
export interface AnswerReader {
  /** What one event of a stream adds. */
  read(event: JsonObject): AnswerChunk;
  /** What a whole answer holds, which some servers send although the request asks for a stream; null for anything else. */
  readWhole(body: JsonObject): readonly AnswerChunk[] | null;
}

/** What an event adds to an answer; '' and [] for nothing. */
export interface AnswerChunk {
  readonly text: string;
  readonly reasoning: string;
  /** Reasoning in the form in which the server wants it back with the answer. */
  readonly reasoningDetails: readonly unknown[];
  readonly calls: readonly CallDelta[];
  readonly finishReason: string;
  /** The finish reason of the model behind a gateway. It can contradict `finishReason`. */
  readonly nativeFinishReason: string;
  readonly usage: Usage | null;
  readonly error: UpstreamError | null;
  /** Whether the answer ends here. The rest of the stream does not count. */
  readonly isLast?: boolean;
}

/** Ends an answer that would take too much memory, although it shows little. */
export function tooLarge(): AnswerChunk {
  return { ...NOTHING, error: errorFromText('The answer is too large.'), isLast: true };
}

export const NOTHING: AnswerChunk = {
  text: '',
  reasoning: '',
  reasoningDetails: [],
  calls: [],
  finishReason: '',
  nativeFinishReason: '',
  usage: null,
  error: null,
};

/** What a server counted; undefined where it did not. */
interface Counts {
  readonly prompt: number | undefined;
  readonly completion: number | undefined;
  readonly total?: number | undefined;
  readonly cached: number | undefined;
  readonly written: number | undefined;
  readonly reasoning: number | undefined;
}

/** Null without any tokens. The total can exceed prompt plus completion, and is never less. */
export function usageOf({ prompt, completion, cached, written, reasoning, ...counts }: Counts) {
  if (prompt === undefined && completion === undefined) return null;
  const [promptTokens, completionTokens] = [prompt ?? 0, completion ?? 0];
  return {
    promptTokens,
    completionTokens,
    totalTokens: Math.max(counts.total ?? 0, promptTokens + completionTokens),
    ...(cached !== undefined && { cachedPromptTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  } satisfies Usage;
}
