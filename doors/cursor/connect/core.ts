/** What the calls of `aiserver.v1` need of the Worker, for the sender of one request. Failures are DrawbridgeErrors. */
import type { Ending } from '../../words/ending.ts';
import type { Wire } from '../../words/word-stream.ts';

/** `Run` is the Worker's own value for a started run. */
export interface ChatCore<Run extends ResponseCall = ResponseCall> {
  /** The names of the models that chat. */
  models(): readonly string[];
  /** Reads bytes within the bounds of a body. */
  readBytes(source: Pick<Request, 'body'>): Promise<Uint8Array>;
  /** Begins a run. `completion` (OpenAI's shape) brings the history; a conversation of ours gets its last message. */
  begin(completion: object, conversationId: string | undefined): Promise<Run>;
  /** Streams the words of the run, which ends with the stream. */
  stream(begun: Run, form: Form): ReadableStream<Uint8Array>;
}

export interface ResponseCall {
  readonly caller: { readonly conversationId: string };
  readonly responseId: string;
}

/** The form of a stream. */
export interface Form {
  /** Makes the bytes of the text that the wire writes. */
  readonly encode: (text: string) => Uint8Array;
  readonly open: (write: (text: string) => void) => Wire;
  /** When the stream ends, and how; null without a limit. */
  readonly timeout: { readonly ms: number; readonly ending: Ending } | null;
}
