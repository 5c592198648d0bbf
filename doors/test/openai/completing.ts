/** `/v1` as tests inside workerd talk to it, without any client between. */
import { SELF } from 'cloudflare:test';
import { createParser } from 'eventsource-parser';
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import { tokenFor } from '../../../test/worker/api.ts';
import type { OpenAiError } from '../../openai/errors.ts';

export interface Asking {
  readonly account?: string;
  readonly signal?: AbortSignal;
}

/** A request to a path of `/v1`. A body makes it a POST. */
export async function callV1(
  path: string,
  { account = 'ada', signal }: Asking = {},
  body?: string,
): Promise<Response> {
  return await SELF.fetch(`https://drawbridge.test/v1/${path}`, {
    headers: { authorization: `Bearer ${await tokenFor({ account })}` },
    ...(body !== undefined && { method: 'POST', body }),
    ...(signal && { signal }),
  });
}

/** `POST /v1/chat/completions`; without messages of its own it says "go". */
export async function complete(
  body: Record<string, unknown> = {},
  asking?: Asking,
): Promise<Response> {
  const messages = [{ role: 'user', content: 'go' }];
  return await callV1('chat/completions', asking, JSON.stringify({ messages, ...body }));
}

export async function completed(body: Record<string, unknown> = {}): Promise<ChatCompletion> {
  return await (await complete(body)).json();
}

export async function openAiError(
  response: Response,
): Promise<OpenAiError & { readonly status: number }> {
  const { error } = await response.json<{ error: OpenAiError }>();
  return { status: response.status, ...error };
}

type Delta = ChatCompletionChunk.Choice.Delta & { reasoning_content?: string };

/** Reads a stream as far as the test wants. */
export class ChunkReader {
  readonly conversationId: string;
  readonly chunks: ChatCompletionChunk[] = [];
  readonly comments: string[] = [];
  readonly errors: OpenAiError[] = [];
  /** `[DONE]` came. */
  isDone = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ data }) => this.#take(data),
    onComment: (comment) => this.comments.push(comment),
  });

  constructor(response: Response) {
    this.conversationId = response.headers.get('drawbridge-conversation-id') ?? '';
    this.#reader = response.body?.getReader();
  }

  get content(): string {
    return this.#deltas.map(({ content }) => content ?? '').join('');
  }

  get reasoning(): string {
    return this.#deltas.map(({ reasoning_content: thought }) => thought ?? '').join('');
  }

  get finishReason(): string | null | undefined {
    return this.chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason;
  }

  /** Fails when the stream ends before. */
  untilContent(text: string): Promise<void> {
    return this.#until(() => this.content.includes(text));
  }

  untilComment(): Promise<void> {
    return this.#until(() => this.comments.length > 0);
  }

  async toEnd(): Promise<this> {
    while (await this.readOnce());
    return this;
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (!(await this.readOnce())) throw new Error(`ended with ${JSON.stringify(this.chunks)}`);
    }
  }

  get #deltas(): Delta[] {
    return this.chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  }

  /** False at the end of the stream. */
  async readOnce(): Promise<boolean> {
    const { value, done } = (await this.#reader?.read()) ?? { done: true };
    if (value) this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    return !done;
  }

  #take(data: string): void {
    if (this.isDone) throw new Error(`after [DONE]: ${data}`);
    if (data === '[DONE]') {
      this.isDone = true;
      return;
    }
    const parsed = JSON.parse(data) as ChatCompletionChunk | { error: OpenAiError };
    if ('error' in parsed) this.errors.push(parsed.error);
    else this.chunks.push(parsed);
  }
}

export async function streamed(
  body: Record<string, unknown> = {},
  asking: Asking = {},
): Promise<ChunkReader> {
  return new ChunkReader(await complete({ stream: true, ...body }, asking));
}
