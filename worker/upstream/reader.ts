/** Reads the answer of an OpenAI-compatible server: bytes in, parts to show as they come, a reply at the end. */
import { Answer, type AnswerOptions, type ReplyPart, type UpstreamReply } from './answer.ts';
import { readChunk } from './chunk.ts';
import { errorFromText, normaliseError } from './errors.ts';
import { isObject, listIn, parseEnvelope } from './loose-json.ts';
import { EventReader, type UpstreamEvent } from './sse.ts';

/** The results of this file's two readers. */
export type { ReplyPart, UpstreamReply };

/** Reads one event stream. Never throws for what the upstream sends. */
export class ReplyReader {
  readonly #events = new EventReader();
  readonly #answer: Answer;
  #eventCount = 0;

  constructor(options: AnswerOptions = {}) {
    this.#answer = new Answer(options);
  }

  /** Events with data so far. Comments and pings do not count, so that they cannot keep a stalled answer alive. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /** `[DONE]` came, or the answer is too long. The rest does not count, and the connection can be closed. */
  get isOver(): boolean {
    return this.#answer.isDone || this.#answer.isTooLong || this.#events.isOver;
  }

  push(bytes: Uint8Array): ReplyPart[] {
    for (const event of this.#events.push(bytes)) this.#read(event);
    return this.#answer.takeParts();
  }

  /** To be called once, when the body has ended or broken off. */
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
    // Ignores anything else, for example a proxy's timestamp.
  }
}

const BAD_CHUNK = errorFromText('The model server sent a chunk that is not JSON.');

/**
 * Reads the body of a response that is not an event stream: an error under any status, or a whole completion under a
 * status below 400. Some servers send one although the request asks for a stream.
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
