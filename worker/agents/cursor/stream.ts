/** The stream of a run in Cursor's shape. */
import type { Context } from 'hono';
import * as z from 'zod';
import type { PositionedEvent } from '../../../shared/api/reader-socket.ts';
import { DrawbridgeError, toWireError } from '../../../shared/errors.ts';
import { parseResponseId } from '../../../shared/ids.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { AppContext } from '../../account/caller.ts';
import type { Endpoint } from '../../endpoint.ts';
import { type Attached, attachFirst, type Followed } from '../../follow/attach.ts';
import type { Delivered, DeliveryHandler } from '../../follow/deliver.ts';
import { refusalOf } from '../../follow/fold-answer.ts';
import { leave, streamDelivery } from '../../follow/sse-adapter.ts';
import { SseWriter } from '../../follow/sse-writer.ts';
import { callerOf, RUN_PARAMS, readResponse, responseIdOf } from './runs.ts';
import { CursorRunEvent } from './schemas.ts';
import { runIdOf, toRun } from './shapes.ts';
import { formatFrame, RunTelling } from './telling.ts';

/** A run's id in the examples. */
const RUN = 'run-4f6c1b9e-6a0d-4c1e-9d6b-3c2f5a7e0001';

const EXAMPLE = [
  formatFrame({ event: 'status', data: { runId: RUN, status: 'RUNNING' } }),
  formatFrame({ event: 'assistant', data: { text: 'Done.' } }, '9-1'),
  formatFrame({ event: 'interaction_update', data: { type: 'text-delta', text: 'Done.' } }, '9-1'),
  formatFrame({ event: 'status', data: { runId: RUN, status: 'FINISHED' } }),
  formatFrame(
    { event: 'result', data: { runId: RUN, status: 'FINISHED', text: 'Done.', durationMs: 900 } },
    '11-1',
  ),
  formatFrame({ event: 'done', data: {} }),
].join('');

export const CURSOR_STREAM: Endpoint = {
  id: 'streamCursorRun',
  method: 'get',
  path: '/v1/agents/{id}/runs/{runId}/stream',
  tag: 'Cursor',
  access: 'user',
  summary: 'Stream a run',
  description: 'From its beginning, or behind `Last-Event-ID`, to its end.',
  params: RUN_PARAMS,
  headers: [
    {
      name: 'Last-Event-ID',
      description: 'The id of the last frame seen. The frames after it are sent.',
      zod: z.string(),
    },
  ],
  answers: [
    {
      status: 200,
      description: 'The name and the data of each frame.',
      content: [
        {
          type: 'text/event-stream',
          events: CursorRunEvent,
          examples: { run: { summary: 'A short run', value: EXAMPLE } },
        },
      ],
    },
  ],
  errors: ['NOT_FOUND', 'INVALID_LAST_EVENT_ID'],
  handle: streamRun,
};

async function streamRun(c: Context<AppContext>): Promise<Response> {
  const followed = { caller: callerOf(c), responseId: responseIdOf(c) };
  const { caller, responseId } = followed;
  const read = async () => await readResponse(c, caller, responseId);
  const { status } = toRun(await read());
  const { ordinal } = parseResponseId(responseId);
  const told = toldOf(c.req.header('last-event-id'), ordinal);
  const first = await attachReader(c, followed, told);
  const stream = new RunStream(followed.responseId, new RunTelling(ordinal, told), read);
  stream.tellStatus(status);
  const { writer, life } = stream;
  const finish = (how: Delivered) => stream.finish(how);
  return await streamDelivery(c.req.raw, c.env, {
    followed,
    first,
    delivery: stream,
    writer,
    life,
    finish,
  });
}

/** The position in an id that {@link RunTelling} made for this run; 0 without one. */
function toldOf(id: string | undefined, ordinal: number): number {
  if (!id) return 0;
  const [, position, run] = /^(\d{1,15})-(\d{1,5})$/.exec(id) ?? [];
  if (Number(run) !== ordinal) throw badEventId();
  return Number(position);
}

/**
 * Attaches at the beginning of the run. A first attach at the client's position only asks the object whether it is one,
 * and whether anything comes after it.
 */
async function attachReader(
  c: Context<AppContext>,
  followed: Followed,
  told: number,
): Promise<Attached> {
  const { env, req } = c;
  const attachAt = (cursor: number) =>
    attachFirst(env, followed, 'positioned', cursor, req.raw.signal);
  const asked = await attachAt(told);
  if (asked.type === 'response') {
    if (asked.response.ok) return asked;
    const refusal = await refusalOf(asked.response);
    throw refusal.code === 'INVALID_CURSOR' ? badEventId() : refusal;
  }
  if (told === 0) return asked;
  await leave(asked);
  return await attachAt(0);
}

function badEventId(): DrawbridgeError {
  const message =
    'Last-Event-ID: use an id of this run’s stream, or none to begin at its beginning';
  return new DrawbridgeError('INVALID_LAST_EVENT_ID', message);
}

/** One reader's stream. */
class RunStream implements DeliveryHandler {
  readonly framing = 'positioned';
  readonly writer = new SseWriter();
  readonly life = new AbortController();
  readonly #runId: string;
  readonly #telling: RunTelling;
  readonly #read: () => Promise<ChatResponse>;
  #status: Status | null = null;

  /** `read` gets the response as it is then. */
  constructor(responseId: string, telling: RunTelling, read: () => Promise<ChatResponse>) {
    this.#runId = runIdOf(responseId);
    this.#telling = telling;
    this.#read = read;
  }

  cursor(): number {
    return this.#telling.position;
  }

  /** A client that must begin again does so when it returns. */
  take(text: string): void {
    const events = JSON.parse(text) as PositionedEvent[];
    const isBegun = events.some(({ event }) => event.type === 'response_start');
    if (isBegun && this.#status === 'CREATING') this.tellStatus('RUNNING');
    this.writer.write(this.#telling.take(events));
    if (this.#telling.isTorn) this.life.abort();
  }

  beat(): void {
    this.#write({ event: 'heartbeat', data: {} });
  }

  /** Frames of the status have no id: each connection begins with one. */
  tellStatus(status: Status): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#write({ event: 'status', data: { runId: this.#runId, status } });
  }

  /** Never throws. */
  async finish(how: Delivered): Promise<void> {
    if (how === 'stalled' || how === 'left' || how === 'expired') return;
    if (how === 'lost') return this.#fail('unavailable', LOST);
    try {
      this.#tellResult(await this.#read());
    } catch (error) {
      const { code, message } = toWireError(error).body.error;
      this.#fail(code.toLowerCase(), message);
      if (code !== 'NOT_FOUND') return;
    }
    this.#write({ event: 'done', data: {} });
  }

  #tellResult(response: ChatResponse): void {
    const { status, result: text, durationMs } = toRun(response);
    const { id } = this.#telling;
    this.tellStatus(status);
    const data = { runId: this.#runId, status, text, durationMs };
    this.#write({ event: 'result', data }, id);
    const error = response.documents.findLast(({ type }) => type === 'error');
    if (status !== 'ERROR' || !error) return;
    this.#fail(String(error.metadata['errorCode']).toLowerCase(), error.content ?? '');
  }

  #fail(code: string, message: string): void {
    this.#write({ event: 'error', data: { code, message } });
  }

  #write(frame: CursorRunEvent, id?: string): void {
    this.writer.write(formatFrame(frame, id));
  }
}

type Status = ReturnType<typeof toRun>['status'];

/** The client returns, because the stream has not told that it is done. */
const LOST = 'The run could not be followed further: come back with Last-Event-ID.';
