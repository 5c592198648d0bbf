/** One try of a companion, to show its owner whether it works. The bridge's own connection is another. */
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import * as z from 'zod';
import { newDeferred } from '../../../machine/deferred.ts';
import { Agent, request } from '../../../machine/http.ts';
import { parseIfJson } from '../../../shared/text/json.ts';
import type { Candidate } from './discovery/candidate.ts';
import { DISCOVERY_LIMITS } from './discovery/limits.ts';
import { hostHeader } from './discovery/place.ts';

export interface Probed {
  /** `answers`: it takes our token, and was asked no more. */
  readonly state: 'ready' | 'answers' | 'failed';
  /** One clause, for a person. May quote the companion: escape it before printing. */
  readonly summary: string;
}

export interface ProbeOptions {
  /** The addresses to try, in this order. */
  readonly hosts: readonly string[];
  /**
   * Opens no session. Most companions send all answers to the session that was opened last: a running bridge would lose
   * its own.
   */
  readonly isGentle: boolean;
  readonly signal: AbortSignal;
}

/** Never rejects, unless the signal aborts. */
export async function probe(candidate: Candidate, options: ProbeOptions): Promise<Probed> {
  const reasons: string[] = [];
  for (const host of options.hosts) {
    try {
      return await probeAt(host, candidate, options);
    } catch (error) {
      options.signal.throwIfAborted();
      reasons.push(describeFailure(error));
    }
  }
  return { state: 'failed', summary: [...new Set(reasons)].join(', and ') };
}

async function probeAt(
  host: string,
  candidate: Candidate,
  { isGentle, signal }: ProbeOptions,
): Promise<Probed> {
  const post = (method: string, params: object, session: Readonly<Record<string, string>> = {}) =>
    send({ host, candidate, session, body: { ...RPC, id: 1, method, params } }, signal);
  if (isGentle) {
    // Without a session only the token is checked.
    const { status } = await post('tools/list', {});
    if (status === 200 || status === 400 || status === 404)
      return { state: 'answers', summary: 'it answers' };
    throw new RefusedProbe(status);
  }
  const opened = await post('initialize', INITIALIZE);
  if (opened.status !== 200) throw new RefusedProbe(opened.status);
  const { protocolVersion, serverInfo } = Opened.parse(opened.result);
  const session = {
    'mcp-protocol-version': protocolVersion,
    ...(opened.session !== undefined && { 'mcp-session-id': opened.session }),
  };
  const ready = { ...RPC, method: 'notifications/initialized' };
  await send({ host, candidate, session, body: ready }, signal);
  const listed = await post('tools/list', {}, session);
  if (listed.status !== 200) throw new RefusedProbe(listed.status);
  const names = Listed.parse(listed.result).tools.map(({ name }) => name);
  await leave({ host, candidate, session }, signal);
  const canShow = ['openDiff', 'closeDiff'].every((name) => names.includes(name));
  const shows = canShow ? 'it can show edits' : 'it reports open files, and cannot show edits';
  const tools = names.includes('getDiagnostics') ? `${shows}, and it can report errors` : shows;
  return { state: 'ready', summary: `${serverInfo.name} ${serverInfo.version}: ${tools}` };
}

/** Official companions do not know the request, and keep the session. */
async function leave(to: Omit<ProbeRequest, 'body'>, signal: AbortSignal): Promise<void> {
  await send(to, signal).catch(() => undefined);
  signal.throwIfAborted();
}

const RPC = { jsonrpc: '2.0' } as const;
const INITIALIZE = {
  // Every companion of the field knows this version.
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'drawbridge', version: '0.1.0' },
};

const Opened = z.object({
  // It becomes a header.
  protocolVersion: z.string().regex(/^[\w.-]{1,32}$/),
  serverInfo: z.object({ name: z.string(), version: z.string() }),
});
const Listed = z.object({ tools: z.array(z.object({ name: z.string() })) });
const Answer = z.object({ id: z.literal(1), result: z.unknown() });

interface ProbeRequest {
  readonly host: string;
  readonly candidate: Candidate;
  readonly session: Readonly<Record<string, string>>;
  /** Without a body the session is ended. */
  readonly body?: object;
}

interface Received {
  readonly status: number;
  readonly session: string | undefined;
  /** Undefined where the status is no success, or the answer is an error. */
  readonly result?: unknown;
}

class RefusedProbe extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

async function send(
  { host, candidate: { port, token }, session, body }: ProbeRequest,
  signal: AbortSignal,
): Promise<Received> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(DISCOVERY_LIMITS.probeMs)]);
  const headers = {
    host: hostHeader(port),
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json' }),
    ...session,
  };
  const method = body ? 'POST' : 'DELETE';
  // An agent of its own uses no proxy, and keeps no connection.
  const to = { host, port, path: '/mcp', method, headers, agent: new Agent(), signal: ending };
  const { promise, resolve, reject } = newDeferred<IncomingMessage>();
  const sent = request(to).once('response', resolve).on('error', reject);
  // An answer in another protocol is neither a response nor an error.
  sent.once('upgrade', () => reject(new RefusedProbe(101)));
  sent.end(body && JSON.stringify(body));
  try {
    const message = await promise;
    const { statusCode: status = 0, headers: received } = message;
    const id = received['mcp-session-id'];
    const result = status === 200 && body ? await readResult(message) : undefined;
    return { status, session: typeof id === 'string' ? id : undefined, result };
  } catch (error) {
    ending.throwIfAborted(); // Node reports the end of a body in other words.
    throw error;
  } finally {
    sent.destroy();
  }
}

/** The result in a body of JSON, or in the first event of a stream that answers. */
async function readResult(message: IncomingMessage): Promise<unknown> {
  const isStream = /^text\/event-stream\b/.test(message.headers['content-type'] ?? '');
  const answers: unknown[] = [];
  const parser = createParser({ onEvent: ({ data }) => void answers.push(...answersIn(data)) });
  let text = '';
  for await (const chunk of message.setEncoding('utf8')) {
    text += chunk;
    if (text.length > DISCOVERY_LIMITS.maxProbeChars) throw new Error('its answer is too large');
    if (isStream) parser.feed(chunk);
    if (answers.length > 0) break;
  }
  return isStream ? answers[0] : answersIn(text)[0];
}

/** Empty for a notification, and for what is no message at all. */
function answersIn(text: string): unknown[] {
  const { data } = Answer.safeParse(parseIfJson(text));
  return data ? [data.result] : [];
}

function describeFailure(error: unknown): string {
  if (error instanceof RefusedProbe)
    return REFUSALS[error.status] ?? `it answers with ${error.status}`;
  if (error instanceof z.ZodError) return 'what answers is no companion';
  if (!(error instanceof Error)) return String(error);
  const seconds = DISCOVERY_LIMITS.probeMs / 1000;
  if (error.name === 'TimeoutError')
    return `it does not answer within ${seconds} s: the editor may be frozen`;
  return error.message || error.name;
}

const REFUSALS: Readonly<Record<number, string>> = {
  101: 'what answers is no companion',
  401: 'it refuses the token (401)',
  403: 'it refuses the address (403)',
  404: 'what answers is no companion (404)',
};
