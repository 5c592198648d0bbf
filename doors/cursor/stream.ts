/** The stream of a run in Cursor's shape. */
import type { Context } from 'hono';
import * as z from 'zod';
import type { PositionedEvent } from '../../shared/api/reader-socket.ts';
import { DrawbridgeError, toWireError } from '../../shared/errors.ts';
import { parseResponseId } from '../../shared/ids.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { Core, Reader, Route } from './core.ts';
import { formatFrame, RunFrames } from './run-frames.ts';
import { agentOf, RUN_PARAMS, readResponse, responseIdOf } from './runs.ts';
import { CursorRunEvent } from './schemas.ts';
import { runIdOf, toRun } from './shapes.ts';

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

export const CURSOR_STREAM: Route = {
  id: 'streamCursorRun',
  method: 'get',
  path: '/v1/agents/{id}/runs/{runId}/stream',
  tag: 'Cursor',
  access: 'user',
  needs: 'agents',
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
  errors: ['INVALID_LAST_EVENT_ID'],
  handle: streamRun,
};

async function streamRun(c: Context, core: Core): Promise<Response> {
  const [agent, responseId] = [agentOf(c), responseIdOf(c)];
  const read = async () => await readResponse(core, agent, responseId);
  const { status } = toRun(await read());
  const { ordinal } = parseResponseId(responseId);
  const seen = positionIn(c.req.header('last-event-id'), ordinal);
  const open = (write: (text: string) => void, leave: () => void) => {
    const stream = new RunStream(responseId, new RunFrames(ordinal, seen), { read, write, leave });
    stream.showStatus(status);
    return stream;
  };
  return await core.stream(agent, responseId, seen, open).catch((error) => {
    const isCursor = error instanceof DrawbridgeError && error.code === 'INVALID_CURSOR';
    throw isCursor ? badEventId() : error;
  });
}

/** The position in an id that {@link RunFrames} made for this run; 0 without one. */
function positionIn(id: string | undefined, ordinal: number): number {
  if (!id) return 0;
  const [, position, run] = /^(\d{1,15})-(\d{1,5})$/.exec(id) ?? [];
  if (Number(run) !== ordinal) throw badEventId();
  return Number(position);
}

function badEventId(): DrawbridgeError {
  const message =
    'Last-Event-ID: use an id of this run’s stream, or none to begin at its beginning';
  return new DrawbridgeError('INVALID_LAST_EVENT_ID', message);
}

/** What a stream needs: `read` gets the response as it is then. */
interface StreamConnection {
  readonly read: () => Promise<ChatResponse>;
  readonly write: (text: string) => void;
  readonly leave: () => void;
}

/** One reader's stream. */
class RunStream implements Reader {
  readonly framing = 'positioned';
  readonly #runId: string;
  readonly #frames: RunFrames;
  readonly #connection: StreamConnection;
  #status: Status | null = null;

  constructor(responseId: string, frames: RunFrames, connection: StreamConnection) {
    this.#runId = runIdOf(responseId);
    this.#frames = frames;
    this.#connection = connection;
  }

  cursor(): number {
    return this.#frames.position;
  }

  /** A client that must begin again does so when it returns. */
  take(text: string): void {
    const events = JSON.parse(text) as PositionedEvent[];
    const isBegun = events.some(({ event }) => event.type === 'response_start');
    if (isBegun && this.#status === 'CREATING') this.showStatus('RUNNING');
    this.#connection.write(this.#frames.take(events));
    if (this.#frames.isTorn) this.#connection.leave();
  }

  beat(): void {
    this.#write({ event: 'heartbeat', data: {} });
  }

  /** Frames of the status have no id: each connection begins with one. */
  showStatus(status: Status): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#write({ event: 'status', data: { runId: this.#runId, status } });
  }

  /** Never throws. */
  async finish(how: Parameters<Reader['finish']>[0]): Promise<void> {
    if (how === 'stalled' || how === 'left' || how === 'expired') return;
    if (how === 'lost') return this.#fail('unavailable', LOST);
    try {
      this.#showResult(await this.#connection.read());
    } catch (error) {
      const { code, message } = toWireError(error).body.error;
      this.#fail(code.toLowerCase(), message);
      if (code !== 'NOT_FOUND') return;
    }
    this.#write({ event: 'done', data: {} });
  }

  #showResult(response: ChatResponse): void {
    const { status, result: text, durationMs } = toRun(response);
    this.showStatus(status);
    const data = { runId: this.#runId, status, text, durationMs };
    this.#write({ event: 'result', data }, this.#frames.id);
    const error = response.documents.findLast(({ type }) => type === 'error');
    if (status !== 'ERROR' || !error) return;
    this.#fail(String(error.metadata['errorCode']).toLowerCase(), error.content ?? '');
  }

  #fail(code: string, message: string): void {
    this.#write({ event: 'error', data: { code, message } });
  }

  #write(frame: CursorRunEvent, id?: string): void {
    this.#connection.write(formatFrame(frame, id));
  }
}

type Status = ReturnType<typeof toRun>['status'];

/** The client returns: no `done` came. */
const LOST = 'The run could not be followed further: come back with Last-Event-ID.';
