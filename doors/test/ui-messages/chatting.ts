/** `/api/v1/ui` as tests inside workerd talk to it, with the SDK's own transports. */
import { SELF } from 'cloudflare:test';
import {
  DefaultChatTransport,
  isToolUIPart,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { tokenFor } from '../../../test/worker/api.ts';

const API = 'https://drawbridge.test/api/v1/ui/chat';

export interface Chatting {
  readonly account?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

/** The SDK's transport over HTTP. */
export function transportFor({ account = 'ada', body, headers }: Chatting = {}) {
  return new DefaultChatTransport({
    api: API,
    fetch: (input, init) => SELF.fetch(input as string, init as RequestInit),
    headers: async () => ({ authorization: `Bearer ${await tokenFor({ account })}`, ...headers }),
    ...(body && { body }),
  });
}

/** A chat as the SDK keeps it: every message is sent each time, and answers are added. */
export class TestChat {
  readonly id: string;
  messages: UIMessage[] = [];
  readonly #transport: ReturnType<typeof transportFor>;

  constructor(id: string, chatting?: Chatting) {
    this.id = id;
    this.#transport = transportFor(chatting);
  }

  /** Sends a text, and waits for the answer. */
  async say(text: string): Promise<UIMessage> {
    this.messages.push(userMessage(text));
    return await this.#answer('submit-message');
  }

  /** Asks for the last answer again. */
  async regenerate(): Promise<UIMessage> {
    this.messages.pop();
    return await this.#answer('regenerate-message');
  }

  /** Gives the open calls of the last answer this result, and waits for the rest of its message. */
  async returns(output: unknown): Promise<UIMessage> {
    const asked = this.messages.pop();
    if (!asked) throw new Error('there is no answer');
    const answered = asked.parts.map((part) => {
      const isOpen = isToolUIPart(part) && part.state === 'input-available';
      return isOpen ? ({ ...part, state: 'output-available', output } as never) : part;
    });
    this.messages.push({ ...asked, parts: answered });
    const rest = await readMessage(await this.#ask('submit-message'), this.messages.pop());
    this.messages.push(rest);
    return rest;
  }

  /** The stream of the answer to a text, for tests that leave it. */
  async stream(text: string, signal?: AbortSignal): Promise<ReadableStream<UIMessageChunk>> {
    this.messages.push(userMessage(text));
    return await this.#ask('submit-message', signal);
  }

  async resume(): Promise<ReadableStream<UIMessageChunk> | null> {
    return await this.#transport.reconnectToStream({ chatId: this.id });
  }

  async #answer(trigger: 'submit-message' | 'regenerate-message'): Promise<UIMessage> {
    const message = await readMessage(await this.#ask(trigger));
    this.messages.push(message);
    return message;
  }

  #ask(trigger: 'submit-message' | 'regenerate-message', abortSignal?: AbortSignal) {
    const { id: chatId, messages } = this;
    const options = { chatId, messages, trigger, messageId: undefined, abortSignal };
    return this.#transport.sendMessages(options);
  }
}

export function userMessage(text: string, id: string = crypto.randomUUID()): UIMessage {
  return { id, role: 'user', parts: [{ type: 'text', text }] };
}

/** The message at the end of its stream, of which a part may be there. Fails with the first error of the stream. */
export async function readMessage(
  stream: ReadableStream<UIMessageChunk>,
  begun?: UIMessage,
): Promise<UIMessage> {
  let message: UIMessage | undefined;
  const states = readUIMessageStream({
    stream,
    ...(begun && { message: begun }),
    terminateOnError: true,
  });
  for await (const state of states) message = state;
  if (!message) throw new Error('no message came');
  return message;
}

export function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Reads chunks until their text contains this. The stream stays open. */
export async function untilText(
  reader: ReadableStreamDefaultReader<UIMessageChunk>,
  text: string,
): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  while (
    !chunks
      .map((chunk) => ('delta' in chunk ? chunk.delta : ''))
      .join('')
      .includes(text)
  ) {
    const { value } = await reader.read();
    if (!value) throw new Error(`the stream ended with ${JSON.stringify(chunks)}`);
    chunks.push(value);
  }
  return chunks;
}

/** A request without the SDK. */
export async function post(body: unknown, { account = 'ada' }: Chatting = {}): Promise<Response> {
  return await SELF.fetch(API, {
    method: 'POST',
    headers: { authorization: `Bearer ${await tokenFor({ account })}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
