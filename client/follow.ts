/** Reads one stream over several connections: reconnects with the cursor, backs off, and gives up when refused. */
import type { ReadEvent, UnknownEvent } from '../shared/wire/events.ts';
import type { Clock } from './clock.ts';
import { ClientError } from './error.ts';
import { CLIENT_LIMITS } from './limits.ts';
import { unlessSilent } from './silence.ts';
import type { StreamSocket } from './socket.ts';
import { type EventReader, type Frame, type ReadOptions, readFrames } from './sse.ts';

/** An event with the cursor after it, which is undefined only before the first event with a position. */
export interface Positioned<Event = ReadEvent> {
  readonly position: number | undefined;
  readonly event: Event | UnknownEvent;
}

export interface FollowOptions {
  /** Ends the stream: the iteration throws the signal's reason. The run itself goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait for the next connection, with the error that ended the last one, if any. */
  readonly onReconnect?: ((error: unknown) => void) | undefined;
}

/** The stream to follow. */
export interface Source<Event> {
  /** Preferred to {@link open}, except right after a socket that could not be opened. */
  readonly socket?: StreamSocket | undefined;
  /** Opens the stream after the cursor. Status 204 means that no more events will come. */
  readonly open: (cursor: number | undefined, signal: AbortSignal) => Promise<Response>;
  readonly cursor?: number | undefined;
  /** A connection that is already open. */
  readonly opened?: Response | undefined;
  readonly read: EventReader<Event>;
  /** Whether the stream is complete with this event. */
  readonly isLast: (event: Event | UnknownEvent) => boolean;
}

/**
 * Yields every event of the source exactly once and in order, however often the connection is cut. Throws a
 * {@link ClientError} if Drawbridge refuses (4xx, except 408 and 429), or if another server answers the client's first
 * request. Retries any other failure without end.
 */
export async function* follow<Event>(
  source: Source<Event>,
  clock: Clock,
  { signal = new AbortController().signal, onReconnect }: FollowOptions = {},
): AsyncGenerator<Positioned<Event>, void, undefined> {
  const { read } = source;
  let { cursor, opened } = source;
  let failures = 0;
  let retryMs: number = CLIENT_LIMITS.backoffMinMs;
  const onRetry = (ms: number) => {
    retryMs = Math.max(ms, CLIENT_LIMITS.backoffMinMs);
  };
  while (true) {
    let problem: unknown;
    try {
      const options = { read, clock, signal, onRetry };
      const frames =
        !opened && source.socket?.takesTurn()
          ? source.socket.read(cursor, options)
          : await readStream(source, { opened, cursor }, options);
      opened = undefined;
      if (!frames) return;
      for await (const frame of frames) {
        failures = 0;
        cursor = frame.position ?? cursor;
        yield { position: cursor, event: frame.event };
        if (source.isLast(frame.event)) return;
      }
      if (source.socket?.isOver) return;
    } catch (error) {
      problem = error;
    }
    signal.throwIfAborted();
    if (isRefusal(problem)) throw problem;
    onReconnect?.(problem);
    await clock.sleep(backoffMs(failures, retryMs, clock.random()), signal, 0);
    failures += 1;
  }
}

/** Makes a request that changes nothing, and repeats it as {@link follow} opens a stream again. */
export async function persist<T>(
  request: () => Promise<T>,
  clock: Clock,
  { signal = new AbortController().signal, onReconnect }: FollowOptions,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (isRefusal(error)) throw error;
      onReconnect?.(error);
    }
    await clock.sleep(backoffMs(failures, CLIENT_LIMITS.backoffMinMs, clock.random()), signal, 0);
  }
}

const NOTHING_MORE = 204;

/** Undefined if no more events will come. */
async function readStream<Event>(
  source: Pick<Source<Event>, 'open'>,
  { opened, cursor }: Pick<Source<Event>, 'opened' | 'cursor'>,
  options: ReadOptions<Event>,
): Promise<AsyncGenerator<Frame<Event>> | undefined> {
  const response = opened ?? (await openStream(source, cursor, options.clock, options.signal));
  if (response.status === NOTHING_MORE || !response.body) return undefined;
  return readFrames(response.body, options);
}

/** Opens a connection. Gives it up if no answer comes in time, as with a connection that falls silent later. */
async function openStream(
  source: Pick<Source<never>, 'open'>,
  cursor: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<Response> {
  const attempt = new AbortController();
  const either = AbortSignal.any([signal, attempt.signal]);
  try {
    return await unlessSilent(source.open(cursor, either), clock);
  } catch (error) {
    attempt.abort();
    throw error;
  }
}

/** Other 4xx mean that the request is wrong and a retry is useless. These two mean "not now". */
const NOT_NOW: ReadonlySet<number> = new Set([408, 429]);

/** What is no answer of Drawbridge refuses nothing: something on the way is in trouble, or wants a sign-in. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.status === undefined) return false;
  if (error.code === 'BAD_ANSWER') return false;
  return error.status >= 400 && error.status < 500 && !NOT_NOW.has(error.status);
}

/** Half of the doubled delay is fixed and half is random, so that a thousand clients do not return at once. */
function backoffMs(failures: number, retryMs: number, random: number): number {
  const delayMs = Math.min(CLIENT_LIMITS.backoffMaxMs, retryMs * 2 ** failures);
  return (delayMs * (1 + random)) / 2;
}
