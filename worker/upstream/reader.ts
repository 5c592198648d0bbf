/** The answer of an OpenAI-compatible server: bytes in, parts to show as they come, at the end what it came to. */
import { Answer, type AnswerOptions, type ReplyPart, type UpstreamReply } from './answer.ts';
import { readChunk } from './chunk.ts';
import { errorFromText, normaliseError } from './errors.ts';
import { isObject, listIn, parseEnvelope } from './loose-json.ts';
import { EventReader, type UpstreamEvent } from './sse.ts';

/** What this file's two readers give. */
export type { ReplyPart, UpstreamReply };

/** Reads one event stream. Never throws for what the upstream sends. */
export class ReplyReader {
  readonly #events = new EventReader();
  readonly #answer: Answer;
  #eventCount = 0;

  constructor(options: AnswerOptions = {}) {
    this.#answer = new Answer(options);
  }

  /** Events with data so far. Comments and pings do not count, so they keep no stalled answer alive. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /** `[DONE]` came, or more than an answer may hold: nothing after it counts, and the connection can be given up. */
  get isOver(): boolean {
    return this.#answer.isDone || this.#answer.isTooLong || this.#events.isOver;
  }

  push(bytes: Uint8Array): ReplyPart[] {
    for (const event of this.#events.push(bytes)) this.#read(event);
    return this.#answer.takeParts();
  }

  /** The body has ended, well or not. To be called once. */
  end(): { parts: ReplyPart[]; reply: UpstreamReply } {
    for (const event of this.#events.end()) {
      // An event cut off by the end is no bad chunk: the answer just stopped.
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
      case 'data':
        return this.#readData(event.data);
      default:
        event satisfies never;
    }
  }

  #readData(data: string): void {
    const chunk = parseEnvelope(data);
    if (chunk) this.#answer.add(readChunk(chunk, 'delta'));
    else if (data.startsWith('{')) this.#answer.fail(BAD_CHUNK);
    // Anything else is a proxy's timestamp or the like.
  }
}

const BAD_CHUNK = errorFromText('The model server sent a chunk that is not JSON.');

/**
 * Reads the body of a response that is no event stream: an error under any status, or under 200 a whole completion,
 * which some servers send although a stream was asked for.
 */
export function readWholeReply(
  status: number,
  contentType: string | null,
  bodyText: string,
  options: AnswerOptions = {},
): { parts: ReplyPart[]; reply: UpstreamReply } {
  const answer = new Answer(options);
  const body = parseEnvelope(bodyText);
  const chunk = body && readChunk(body, 'message');
  if (status < 400 && chunk && !chunk.error && listIn(body, 'choices').some(isObject)) {
    answer.add(chunk);
    answer.isDone = true;
  } else {
    answer.fail(normaliseError(status, contentType, bodyText));
  }
  return answer.end();
}
