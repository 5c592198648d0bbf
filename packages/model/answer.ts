/** Puts an answer together from chunks: parts to show as they come, and a reply at the end. */
import type { Usage } from '../../shared/wire/documents.ts';
import { type AnswerPiece, AnswerText } from './answer-text.ts';
import { CallAssembly, type CallPiece } from './assembly.ts';
import { finishCalls, hasWholeArguments, toCallId, type UpstreamCall } from './calls.ts';
import type { AnswerChunk } from './dialects/dialect.ts';
import { errorFromText, type UpstreamError } from './errors.ts';
import { UPSTREAM_LIMITS } from './limits.ts';
import { judgeEnding, type ReplyOutcome } from './outcome.ts';
import { Reasoning } from './reasoning.ts';

/** A well-formed piece to show. Parts of one type, for calls also of one `call`, join to the whole. */
export type ReplyPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | ({ readonly type: 'call' } & CallPiece);

/** A whole answer. Its calls may run only if its outcome is `completed`. */
export interface UpstreamReply {
  readonly outcome: ReplyOutcome;
  /** The last `finish_reason`, as sent. */
  readonly finishReason: string | null;
  readonly text: string;
  readonly reasoning: string | null;
  /** In the order they first appeared. A part's `call` is an index into this list. */
  readonly calls: readonly UpstreamCall[];
  /** The upstream's count; null if the upstream sends none. */
  readonly usage: Usage | null;
  /** Set exactly for the outcome `error`. */
  readonly error: UpstreamError | null;
  /** As they came. The upstream wants them back with the answer. */
  readonly reasoningDetails?: readonly unknown[];
}

/** Settings that differ between upstreams, and the source of ids, which tests replace. */
export interface AnswerOptions {
  /** Makes ids for calls that come without one; see {@link toCallId}. */
  readonly newId?: () => string;
  /** Whether a `<think>` at the very start of the text encloses reasoning; by default it does. */
  readonly thinkTags?: boolean;
}

/** Takes chunks in order. Keeps parts until `takeParts`. */
export class ChunkAnswer {
  /** The upstream has marked the end of the answer. */
  isDone = false;
  readonly #newId: () => string;
  readonly #text: AnswerText;
  readonly #reasoning = new Reasoning();
  readonly #calls = new CallAssembly();
  #parts: ReplyPart[] = [];
  /** About the UTF-16 units of everything that is kept. */
  #charCount = 0;
  #said = '';
  #thought = '';
  #finishReason = '';
  #nativeFinishReason = '';
  #usage: Usage | null = null;
  #error: UpstreamError | null = null;

  constructor(options: AnswerOptions) {
    this.#newId = options.newId ?? (() => toCallId(crypto.randomUUID()));
    this.#text = new AnswerText(options.thinkTags ?? true);
  }

  get isTooLong(): boolean {
    return this.#charCount > UPSTREAM_LIMITS.maxAnswerChars;
  }

  add(chunk: AnswerChunk): void {
    if (!this.#error) {
      this.#charCount += charsOf(chunk);
      if (this.isTooLong) this.fail(errorFromText(TOO_LONG));
      else this.#addWords(chunk);
    }
    this.#finishReason = chunk.finishReason || this.#finishReason;
    this.#nativeFinishReason = chunk.nativeFinishReason || this.#nativeFinishReason;
    this.#usage = chunk.usage ?? this.#usage;
    if (chunk.error) this.fail(chunk.error);
    if (chunk.isLast) this.isDone = true;
  }

  /** Keeps only the first error. After it, `add` ignores words and calls, but still reads usage. */
  fail(error: UpstreamError): void {
    this.#error ??= error;
  }

  takeParts(): ReplyPart[] {
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  /** Call once, at the end of the stream. Returns the parts not yet taken, and the reply. */
  end(): { parts: ReplyPart[]; reply: UpstreamReply } {
    this.#show(this.#text.end());
    this.#show({ text: '', reasoning: this.#reasoning.end() });
    for (const piece of this.#calls.end()) this.#join({ type: 'call', ...piece });
    const outcome = this.#judge();
    const isEmpty = this.#said === '' && this.#calls.calls.length === 0;
    // A `<think>` that is never closed makes all of it reasoning. Repeats that as text, or the answer would be empty.
    if (outcome === 'completed' && isEmpty)
      this.#show({ text: this.#text.unclosed, reasoning: '' });
    return { parts: this.takeParts(), reply: this.#finish(outcome) };
  }

  #addWords({ text, reasoning, reasoningDetails, calls }: AnswerChunk): void {
    if (reasoning !== '' || reasoningDetails.length > 0) {
      this.#show({ text: '', reasoning: this.#reasoning.push(reasoning, reasoningDetails) });
    }
    if (text !== '') this.#show(this.#text.push(text));
    if (calls.length > 0) this.#text.breakOff();
    for (const delta of calls) {
      const piece = this.#calls.push(delta);
      if (piece) this.#join({ type: 'call', ...piece });
    }
  }

  #show({ text, reasoning }: AnswerPiece): void {
    this.#thought += reasoning;
    this.#said += text;
    if (reasoning !== '') this.#join({ type: 'reasoning', text: reasoning });
    if (text !== '') this.#join({ type: 'text', text });
  }

  /** Joins the part to the last one if it can: each part costs every follower a frame. */
  #join(part: ReplyPart): void {
    const last = this.#parts.at(-1);
    const joined = last && joinParts(last, part);
    if (joined) this.#parts[this.#parts.length - 1] = joined;
    else this.#parts.push(part);
  }

  #judge(): ReplyOutcome {
    const { calls } = this.#calls;
    const hasText = this.#said !== '' || this.#text.unclosed !== '';
    return judgeEnding({
      hasError: this.#error !== null,
      finishReason: this.#finishReason,
      nativeFinishReason: this.#nativeFinishReason,
      isDone: this.isDone,
      isUsable: () => (hasText || calls.length > 0) && calls.every(hasWholeArguments),
    });
  }

  #finish(outcome: ReplyOutcome): UpstreamReply {
    const { calls } = this.#calls;
    const { details } = this.#reasoning;
    return {
      outcome,
      finishReason: this.#finishReason || null,
      text: this.#said,
      reasoning: this.#thought || null,
      calls: finishCalls(calls, outcome, this.#newId),
      usage: this.#usage,
      error: this.#error ?? (outcome === 'error' ? errorFromText('') : null),
      ...(details.length > 0 && { reasoningDetails: details }),
    };
  }
}

const TOO_LONG = `The answer is longer than ${UPSTREAM_LIMITS.maxAnswerChars} characters.`;

/** About the UTF-16 units that a chunk adds to its answer. */
function charsOf({ text, reasoning, reasoningDetails, calls }: AnswerChunk): number {
  let chars = text.length + reasoning.length;
  if (reasoningDetails.length > 0) chars += JSON.stringify(reasoningDetails).length;
  for (const { id = '', name = '', arguments: sent = '', extra } of calls) {
    chars += UPSTREAM_LIMITS.minPieceChars + id.length + name.length;
    chars += typeof sent === 'string' ? sent.length : JSON.stringify(sent).length;
    if (extra) chars += JSON.stringify(extra).length;
  }
  return chars;
}

function joinParts(first: ReplyPart, second: ReplyPart): ReplyPart | null {
  if (first.type === 'call') {
    if (second.type !== 'call' || second.call !== first.call) return null;
    const fragments = (first.arguments ?? '') + (second.arguments ?? '');
    return { ...first, ...second, ...(fragments !== '' && { arguments: fragments }) };
  }
  if (second.type !== first.type) return null;
  return { type: first.type, text: first.text + second.text };
}
