/** The far end of the client: a real HTTP server with one finished tape, scripted to break its connections. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatEvent } from '../../shared/api/sse.ts';
import { isDelta, type StreamEvent, type TapeEvent, widthOf } from '../../shared/wire/events.ts';
import { CONVERSATION_ID, RESPONSE_ID } from './sample-tape.ts';

/** What becomes of one connection of the event stream. Without a script it serves to the end. */
export type Fate =
  | { readonly type: 'cut'; readonly afterBytes: number; readonly rudely: boolean }
  /** Writes `text`, and ends once it has written what `rest` resolves to. */
  | { readonly type: 'text'; readonly text: string; readonly rest?: Promise<string> }
  | { readonly type: 'refuse'; readonly status: number; readonly body: unknown }
  | { readonly type: 'unanswered' };

export interface ScriptedApi extends AsyncDisposable {
  readonly url: string;
  /** `GET /path?query` of everything that was asked, with the JSON body where there was one. */
  readonly requests: { readonly line: string; readonly body?: unknown }[];
  /** Fates of the next stream connections, in order. */
  readonly fates: Fate[];
  /** Answers of other paths: `POST chat/completions/…/cancel` -> JSON. */
  readonly answers: Map<string, unknown>;
  /** Called with the line of each request. */
  onRequest?: (line: string) => void;
}

/** For a connection that stays open. */
export const NEVER = new Promise<string>(() => undefined);

/** Starts the server on a free port. */
export async function startScriptedApi(tape: readonly TapeEvent[]): Promise<ScriptedApi> {
  const api: Script = { requests: [], fates: [], answers: new Map() };
  const server = createServer((request, response) => {
    handle(api, tape, request, response).catch((error: unknown) =>
      response.destroy(error as Error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(api, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

type Script = Pick<ScriptedApi, 'requests' | 'fates' | 'answers' | 'onRequest'>;

async function handle(
  api: Script,
  tape: readonly TapeEvent[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const text = (await request.setEncoding('utf8').toArray()).join('');
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  const line = `${request.method} ${request.url?.replace('/api/v1/', '')}`;
  api.requests.push({ line, ...(body !== undefined && { body }) });
  api.onRequest?.(line);
  if (request.headers.authorization !== 'Bearer token') return answer(response, 401, UNKNOWN_TOKEN);
  const scripted = api.answers.get(line);
  if (scripted !== undefined) return answer(response, 200, scripted);
  serveStream(request, response, tape, api.fates.shift());
}

const UNKNOWN_TOKEN = { error: { code: 'UNAUTHENTICATED', message: 'Send a bearer token' } };

function serveStream(
  request: IncomingMessage,
  response: ServerResponse,
  tape: readonly TapeEvent[],
  fate: Fate | undefined,
): void {
  const after = new URL(request.url ?? '/', 'http://x').searchParams.get('after');
  const events = eventsAfter(tape, Number(after ?? 0));
  if (fate?.type === 'unanswered') return;
  if (fate?.type === 'refuse') {
    answer(response, fate.status, fate.body);
    return;
  }
  if (events.length === 0 && !fate) {
    response.writeHead(204).end();
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'drawbridge-conversation-id': CONVERSATION_ID,
    'drawbridge-response-id': RESPONSE_ID,
  });
  response.flushHeaders();
  if (fate?.type === 'text') {
    response.write(fate.text);
    Promise.resolve(fate.rest ?? '').then((rest) => response.end(rest));
    return;
  }
  const bytes = Buffer.from(streamText(events));
  if (!fate) {
    response.end(bytes);
    return;
  }
  const part = bytes.subarray(0, fate.afterBytes);
  if (fate.rudely) response.write(part, () => response.destroy());
  else response.end(part);
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A stream as the server writes it: its `retry`, the events, and a heartbeat somewhere among them. */
export function streamText(events: readonly { position: number; event: StreamEvent }[]): string {
  const [first, ...rest] = events.map(({ event, position }) =>
    formatEvent(event, position, 'named'),
  );
  const heartbeat = formatEvent({ type: 'heartbeat' }, null, 'named');
  return ['retry: 100\n\n', first, heartbeat, ...rest].join('');
}

/** What a reader at `cursor` has not seen. A returning reader gets deltas that belong together merged into one. */
export function eventsAfter(
  tape: readonly TapeEvent[],
  cursor: number,
): { position: number; event: TapeEvent }[] {
  const unseen: { position: number; event: TapeEvent }[] = [];
  let position = 0;
  for (const event of tape) {
    position += widthOf(event);
    if (position <= cursor) continue;
    const last = unseen.at(-1);
    if (cursor > 0 && last && mergeable(last.event, event)) {
      unseen[unseen.length - 1] = { position, event: merged(last.event, event) };
    } else {
      unseen.push({ position, event });
    }
  }
  return unseen;
}

function mergeable(a: TapeEvent, b: TapeEvent): boolean {
  return isDelta(a) && isDelta(b) && a.type === b.type && a.documentId === b.documentId;
}

function merged(a: TapeEvent, b: TapeEvent): TapeEvent {
  if (!isDelta(a) || !isDelta(b)) throw new Error('Only deltas merge');
  return { ...a, delta: a.delta + b.delta };
}
