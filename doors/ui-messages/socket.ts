/** Serves the AI SDK's WebSocket transport: each frame of the client stands for a request over HTTP. */
import type { Context } from 'hono';
import * as z from 'zod';
import { DrawbridgeError, type WireError } from '../../shared/errors.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import type { AppContext, Serve } from '../../worker/door.ts';
import { UI_BODY_LIMITS, UI_LIMITS } from './limits.ts';
import { ChatId } from './request.ts';
import { BEAT, IF_LEFT } from './stream.ts';

/** Where a chat is answered; `/{id}/stream` below it resumes the answer. */
export const CHAT_PATH = '/api/v1/ui/chat';

const Asking = z.looseObject({
  requestId: ChatId,
  id: ChatId,
  headers: z.looseObject({ authorization: z.string().optional() }),
});

/** A frame of the client. The answer of a `send` parses its body. */
const ClientFrame = z.discriminatedUnion('type', [
  Asking.extend({ type: z.literal('send'), body: z.looseObject({}) }),
  /** With the number of the last chunk that the client has. */
  Asking.extend({ type: z.literal('resume'), lastSequence: z.int().nonnegative().optional() }),
  z.object({ type: z.literal('abort'), requestId: ChatId }),
]);
type AskingFrame = Exclude<z.infer<typeof ClientFrame>, { type: 'abort' }>;

/** Answers the upgrade without a token: browsers send none with it, so each frame brings its own. */
export function openSocket(c: Context<AppContext>, serve: Serve): Response {
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
    throw new DrawbridgeError('INVALID_REQUEST', 'upgrade: expected a WebSocket');
  }
  const { 0: client, 1: server } = new WebSocketPair();
  new UiSocket(server, serve, c.req);
  return new Response(null, { status: 101, webSocket: client });
}

/** An answer that is being sent. */
interface SocketAnswer {
  readonly frame: AskingFrame;
  /** Aborted when the client has stopped it, or has left. */
  readonly life: AbortController;
  readonly response: Promise<Response>;
}

class UiSocket {
  readonly #socket: WebSocket;
  readonly #serve: Serve;
  readonly #opened: Context<AppContext>['req'];
  readonly #answers = new Map<string, SocketAnswer>();
  readonly #silence: ReturnType<typeof setTimeout>;
  /** Whether a frame had a valid token. Until then the first refusal ends the connection. */
  #isKnown = false;
  /** The frames that came before that, and how many of them wait. */
  #entering: Promise<void> = Promise.resolve();
  #held = 0;
  #isClosed = false;

  constructor(socket: WebSocket, serve: Serve, opened: Context<AppContext>['req']) {
    this.#socket = socket;
    this.#serve = serve;
    this.#opened = opened;
    this.#silence = setTimeout(() => this.#close(1008), UI_LIMITS.firstFrameMs);
    socket.addEventListener('message', ({ data }) => this.#hear(String(data)));
    for (const type of ['close', 'error'] as const) {
      socket.addEventListener(type, () => this.#close(1000));
    }
    socket.accept();
  }

  #hear(text: string): void {
    if (this.#isClosed) return;
    if (text.length > UI_BODY_LIMITS.maxBodyBytes) return this.#close(1009);
    if (this.#isKnown && this.#held === 0) return this.#take(text);
    this.#held += 1;
    if (this.#held > UI_LIMITS.maxHeldFrames) return this.#close(1008);
    this.#entering = this.#entering.then(() => this.#enter(text)).catch(() => this.#close(1008));
  }

  /** Takes a frame of a stranger if its token is valid. A large one is not parsed before that is known. */
  async #enter(text: string): Promise<void> {
    const isSmall = text.length <= UI_LIMITS.maxStrangerChars;
    const frame = isSmall ? ClientFrame.safeParse(parseIfJson(text)).data : undefined;
    const named = frame && 'headers' in frame ? [frame.headers.authorization] : [];
    for (const authorization of isSmall ? named : authorizationsIn(text)) {
      if (this.#isKnown || this.#isClosed) break;
      const refusal = await this.#refusalOf({ authorization });
      this.#isKnown = refusal === null;
      if (refusal && frame) this.#send(refusal, frame.requestId);
    }
    if (this.#isKnown) clearTimeout(this.#silence);
    this.#held -= 1;
    if (this.#isClosed) return;
    if (this.#isKnown) this.#take(text);
    else this.#close(1008);
  }

  /** Null for a valid token. A `GET` of this path is not found then. */
  async #refusalOf(headers: AskingFrame['headers']): Promise<ServerFrame | null> {
    try {
      const response = await this.#serve(this.#newRequest(CHAT_PATH, { headers }, {}));
      return response.status === 404 ? null : await errorIn(response);
    } catch {
      return { type: 'error', errorText: 'UNAUTHENTICATED: The token is not valid' };
    }
  }

  /** A frame that is none of the SDK's ends the connection. */
  #take(text: string): void {
    const frame = ClientFrame.safeParse(parseIfJson(text)).data;
    if (!frame) return this.#close(1008);
    const known = this.#answers.get(frame.requestId);
    if (frame.type !== 'abort') void (known ?? this.#answer(frame));
    else this.#stop(known).catch(() => undefined); // The answer reports it.
  }

  /** Never rejects. */
  async #answer(frame: AskingFrame): Promise<void> {
    const { requestId } = frame;
    const life = new AbortController();
    const ask = async () => await this.#serve(this.#requestOf(frame, life.signal));
    const response = ask();
    const answer = { frame, life, response };
    this.#answers.set(requestId, answer);
    try {
      this.#send(await this.#pass(answer, await response), requestId);
    } catch (error) {
      const errorText =
        error === ONLY_HTTP ? ONLY_HTTP.message : 'UNAVAILABLE: The answer was lost';
      this.#send({ type: 'error', errorText }, requestId);
    } finally {
      this.#answers.delete(requestId);
    }
  }

  /** A person who looks at another page has not stopped the answer, so it goes on when the socket is lost. */
  #requestOf(frame: AskingFrame, signal: AbortSignal): Request {
    if (frame.type === 'resume') {
      const { id, lastSequence } = frame;
      const after = lastSequence === undefined ? '' : `?after=${lastSequence}`;
      const path = `${CHAT_PATH}/${encodeURIComponent(id)}/stream${after}`;
      return this.#newRequest(path, frame, { signal });
    }
    const { body, headers: _, ...sent } = frame;
    if (Object.keys(Object(body['tools'])).length > 0) throw ONLY_HTTP;
    const whole = JSON.stringify({ ...body, ...sent });
    return this.#newRequest(CHAT_PATH, frame, { method: 'POST', body: whole, signal });
  }

  #newRequest(path: string, { headers }: Pick<AskingFrame, 'headers'>, init: RequestInit): Request {
    const { raw, url } = this.#opened;
    const request = new Request(new URL(path, url), { ...init, cf: { ...raw.cf } });
    request.headers.set('authorization', headers.authorization ?? '');
    request.headers.set(IF_LEFT, 'continue');
    // Whom the request comes from (account/rate-limit.ts), and which page.
    for (const name of ['origin', 'x-forwarded-for', 'cf-connecting-ip']) {
      const value = this.#opened.header(name);
      if (value) request.headers.set(name, value);
    }
    return request;
  }

  /** Sends what the stream brings, whose lines are those of `streamChunks`. Returns the last frame. */
  async #pass({ frame }: SocketAnswer, response: Response): Promise<ServerFrame> {
    if (response.status === 204) return { type: 'no-active' };
    if (!response.ok) return await errorIn(response);
    const { requestId } = frame;
    let sequence = frame.type === 'resume' ? (frame.lastSequence ?? -1) + 1 : 0;
    this.#send({ type: 'start' }, requestId);
    for await (const line of linesOf(response)) {
      // A second `start` says nothing new, and shows that the connection is alive.
      if (line === BEAT) this.#send({ type: 'start' }, requestId);
      const data = /^data: (\{.*)/.exec(line)?.[1];
      if (!data) continue;
      this.#send({ type: 'chunk', sequence: sequence++, chunk: JSON.parse(data) }, requestId);
    }
    return { type: 'end' };
  }

  /** Ends the run, once it is known. One that was resumed, and is resumed again on this socket, goes on. */
  async #stop(answer: SocketAnswer | undefined): Promise<void> {
    if (!answer) return;
    const { frame, life, response } = answer;
    const id = idIn(await response);
    if (frame.type === 'resume') {
      life.abort();
      await new Promise((resolve) => setTimeout(resolve, UI_LIMITS.resumedStopMs));
      const answers = [...this.#answers.values()].map((answer) => answer.response);
      if ((await Promise.all(answers)).some((other) => idIn(other) === id)) return;
    }
    const path = `/api/v1/chat/completions/${id}/cancel`;
    await this.#serve(this.#newRequest(path, frame, { method: 'POST' }));
  }

  #send({ type, ...rest }: ServerFrame, requestId: string): void {
    try {
      this.#socket.send(JSON.stringify({ type, requestId, ...rest }));
    } catch {
      // The socket has closed.
    }
  }

  /** RFC 6455, section 7.4.1. */
  #close(code: 1000 | 1008 | 1009): void {
    this.#isClosed = true;
    clearTimeout(this.#silence);
    for (const { life } of this.#answers.values()) life.abort();
    try {
      this.#socket.close(code);
    } catch {
      // The socket is already closed.
    }
  }
}

/** A message that goes on with results has other numbers than when it is read as a whole, by which a socket resumes. */
const ONLY_HTTP = new DrawbridgeError(
  'INVALID_REQUEST',
  'INVALID_REQUEST: tools: send tools of the page over HTTP, by DefaultChatTransport',
);

/** A frame of the server, without `requestId`. */
type ServerFrame =
  | { readonly type: 'start' | 'end' | 'no-active' }
  | { readonly type: 'chunk'; readonly sequence: number; readonly chunk: unknown }
  | { readonly type: 'error'; readonly errorText: string };

async function errorIn(response: Response): Promise<ServerFrame> {
  const { error } = await response.json<WireError>();
  return { type: 'error', errorText: `${error.code}: ${error.message}` };
}

/** What may be the token of a frame that is not parsed. A text of the chat may look like one, too. */
function authorizationsIn(text: string): string[] {
  const found = new Set<string>();
  for (const [, value = ''] of text.matchAll(/"authorization"\s*:\s*"([^"\\]{1,8000})"/g)) {
    if (found.add(value).size === MAX_TRIED) break;
  }
  return [...found];
}

const MAX_TRIED = 4;

function idIn({ headers }: Response): string | null {
  return headers.get('drawbridge-response-id');
}

/** The lines of a body. Throws when it breaks off. */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  let rest = '';
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
