/** The API called by the ids of its operations; every answer is held against what the document says of it. */
import { SELF } from 'cloudflare:test';
import { createParser } from 'eventsource-parser';
import { expect } from 'vitest';
import {
  Checker,
  type DescribedOperation,
  type Description,
  type Media,
  operationsOf,
} from '../../../../bench/fuzz/description.ts';
import { AccountEvent } from '../../../../shared/api/account-events.ts';
import { eventOfNamed } from '../../../../shared/api/sse.ts';
import type { StreamEvent } from '../../../../shared/wire/events.ts';
import { parseNamedEvent } from '../../../named-event.ts';
import { tokenFor } from '../../api.ts';

export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null sends no token. */
  readonly token?: string | null;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** The body of a JSON answer. */
  readonly json: unknown;
  /** The events of a stream, up to one of {@link LAST} or its end. */
  readonly events: readonly unknown[];
  readonly response: Response;
}

export class DocumentedApi {
  readonly operations: readonly DescribedOperation[];
  /** `operationId status type` of every answer so far. */
  readonly seen = new Set<string>();
  readonly #checker: Checker;
  readonly #account: string;

  constructor(description: Description, account: string) {
    this.operations = operationsOf(description);
    this.#checker = new Checker(description, { closed: true });
    this.#account = account;
  }

  /** Fails the test for an answer that the document does not know, or that is not of its schema. */
  async call(operationId: string, call: Call = {}): Promise<Answered> {
    const operation = this.operations.find((candidate) => candidate.operationId === operationId);
    if (!operation) throw new Error(`No list in openapi/endpoints.ts has ${operationId}.`);
    const response = await SELF.fetch(addressOf(operation, call), {
      method: operation.method,
      headers: { ...(await authorization(call.token, this.#account)), ...call.headers },
      ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    });
    return await this.#check(operation, response);
  }

  /** What the document promises for good requests, as {@link seen} has it. */
  successes(): string[] {
    return this.operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => Number(status) < 300)
        .flatMap(([status, { content = { '': {} } }]) =>
          Object.keys(content).map((type) => `${operationId} ${status} ${type}`),
        ),
    );
  }

  async #check(operation: DescribedOperation, response: Response): Promise<Answered> {
    const { status, headers } = response;
    const type = (headers.get('content-type') ?? '').replace(/;.*/, '');
    const what = `${operation.operationId} ${status} ${type}`;
    const described = operation.responses[status];
    expect(described, `${what} is not in the document`).toBeDefined();
    const media = described?.content?.[type];
    if (described?.content || type !== '') {
      expect(media, `${what} is not in the document`).toBeDefined();
    }
    this.seen.add(what);
    const json = type === 'application/json' ? await response.json() : undefined;
    if (json !== undefined) this.#expectFits(what, media, json);
    const [read = readEvent] = READERS.flatMap(([path, reader]) =>
      operation.path.startsWith(path) ? [reader] : [],
    );
    const events = type === 'text/event-stream' ? await readEvents(response, read) : [];
    for (const event of events) this.#expectFits(what, eventOf(media), event);
    return { status, headers, json, events, response };
  }

  #expectFits(what: string, media: Pick<Media, 'schema'> | undefined, value: unknown): void {
    const problem = this.#checker.problemOf(media?.schema ?? {}, value);
    expect(problem, `${what}: ${JSON.stringify(value)}`).toBeNull();
  }
}

async function authorization(
  token: string | null | undefined,
  account: string,
): Promise<Record<string, string>> {
  if (token === null) return {};
  return { authorization: `Bearer ${token ?? (await tokenFor({ account }))}` };
}

function addressOf({ path, method }: DescribedOperation, { params = {}, query }: Call): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${method} ${path} needs ${name}.`);
    return encodeURIComponent(value);
  });
  return `https://drawbridge.test${filled}${query ? `?${new URLSearchParams(query)}` : ''}`;
}

function eventOf(media: Media | undefined): Pick<Media, 'schema'> {
  return { schema: media?.schema.contentSchema?.items ?? {} };
}

/** Events after which no other one is awaited; the last two are of an account's stream. */
const LAST: ReadonlySet<unknown> = new Set(['done', 'reset', 'conversation_deleted']);

/** Named events as the one event model that they are; unnamed ones as they stand, without the closing `[DONE]`. */
function readEvent(name: string | undefined, data: string): unknown {
  if (name === undefined) return parseUnnamed(data);
  return (
    AccountEvent.safeParse(eventOfNamed(name, JSON.parse(data))).data ?? parseNamedEvent(name, data)
  );
}

/** Frames in Cursor's shape. */
function readFrame(event: string | undefined, data: string): unknown {
  return { event, data: JSON.parse(data) };
}

/** Events that say their name in their data. */
function readData(_: string | undefined, data: string): unknown {
  return JSON.parse(data);
}

/** By the beginning of the path, where the events are not our own. */
const READERS = [
  ['/v1/agents', readFrame],
  ['/v1/responses', readData],
] as const;

async function readEvents(response: Response, read: typeof readEvent): Promise<unknown[]> {
  const events: unknown[] = [];
  let isDone = false;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const parsed = read(event, data);
      if (parsed !== null) events.push(parsed);
      isDone ||= data === '[DONE]' || LAST.has(event ?? Object(parsed).type);
    },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!isDone) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    parser.feed(value ?? '');
  }
  await reader?.cancel();
  return events;
}

/** Two events have another form in the data framing (shared/api/sse.ts); they are given back the one of the document. */
function parseUnnamed(data: string): unknown {
  if (data === '[DONE]') return null;
  const event = JSON.parse(data);
  if (event.type === 'document_start') {
    const { id, type, sequence, ...metadata } = event.document;
    return { type: event.type, document: { id, type, sequence, metadata } } satisfies StreamEvent;
  }
  if (event.type === 'tool_result') {
    const { type, documentId, status, result } = event;
    return { type, documentId, result: { status, data: result } };
  }
  return event;
}

/** The document as it is served, and the API of an account. */
export async function openDocumentedApi(account: string): Promise<DocumentedApi> {
  const response = await SELF.fetch('https://drawbridge.test/openapi.json');
  return new DocumentedApi(await response.json<Description>(), account);
}
