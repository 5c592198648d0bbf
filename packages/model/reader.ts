/** Reads the answer of a model server: bytes in, parts to show as they come, a reply at the end. */
import { type AnswerOptions, ChunkAnswer, type ReplyPart, type UpstreamReply } from './answer.ts';
import type { AnswerReader } from './dialects/dialect.ts';
import { DEFAULT_READER } from './dialects/dialects.ts';
import { errorFromText, normaliseError } from './errors.ts';
import { parseEnvelope } from './loose-json.ts';
import { type UpstreamEvent, UpstreamEventReader } from './sse.ts';

/** The results of this file's two readers. */
export type { ReplyPart, UpstreamReply };

/** `reader` reads the server's dialect; Chat Completions by default. */
export interface ReaderOptions extends AnswerOptions {
  readonly reader?: AnswerReader;
}

/** Reads one event stream. Never throws for what the upstream sends. */
export class ReplyReader {
  readonly #events = new UpstreamEventReader();
  readonly #answer: ChunkAnswer;
  readonly #reader: AnswerReader;
  #eventCount = 0;

  constructor(options: ReaderOptions = {}) {
    this.#answer = new ChunkAnswer(options);
    this.#reader = options.reader ?? DEFAULT_READER;
  }

  /** Events with data so far. Comments and pings do not count, so that they cannot keep a stalled answer alive. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /** The end of the answer came, or the answer is too long. The rest does not count, and the connection can be closed. */
  get isOver(): boolean {
    return this.#answer.isDone || this.#answer.isTooLong || this.#events.isOver;
  }

  push(bytes: Uint8Array): ReplyPart[] {
    for (const event of this.#events.push(bytes)) this.#read(event);
    return this.#answer.takeParts();
  }

  /** Call once, at the end of the body, also of one that broke off. */
  end(): { parts: ReplyPart[]; reply: UpstreamReply } {
    for (const event of this.#events.end()) {
      // An event that the end cut off is not a bad chunk: the answer was interrupted.
      if (event.type !== 'data' || parseEnvelope(event.data)) this.#read(event);
    }
    return this.#answer.end();
  }

  #read(event: UpstreamEvent): void {
    this.#eventCount++;
    if (this.#answer.isDone) return;
    switch (event.type) {
      case 'done':
        this.#answer.isDone = true;
        return;
      case 'error':
        return this.#answer.fail(errorFromText(event.data));
      case 'data': {
        const chunk = parseEnvelope(event.data);
        if (chunk) this.#answer.add(this.#reader.read(chunk));
        else if (event.data.startsWith('{')) this.#answer.fail(BAD_CHUNK);
        return; // Ignores anything else, for example a proxy's timestamp.
      }
      default:
        event satisfies never;
    }
  }
}

const BAD_CHUNK = errorFromText('The model server sent a chunk that is not JSON.');

/** Reads a body that is no event stream: an error under any status, or a whole completion below 400. */
export function readWholeReply(
  status: number,
  contentType: string | null,
  bodyText: string,
  options: ReaderOptions = {},
): { parts: ReplyPart[]; reply: UpstreamReply } {
  const answer = new ChunkAnswer(options);
  const body = status < 400 ? parseEnvelope(bodyText) : undefined;
  const chunks = (body && (options.reader ?? DEFAULT_READER).readWhole(body)) ?? [];
  if (chunks.length > 0 && chunks.every(({ error }) => !error)) {
    for (const chunk of chunks) answer.add(chunk);
    answer.isDone = true;
  } else {
    answer.fail(normaliseError(status, contentType, bodyText));
  }
  return answer.end();
}
