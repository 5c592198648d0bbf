/** Every way to cut a stream that a test goes through, and the wire's text that is cut. */
import { fewOf } from '../../../test/depth.ts';

interface Sliceable<T> {
  readonly length: number;
  slice(start: number, end?: number): T;
}

/** Whole, at every point in two, and unit by unit. In `npm test`, a long stream at 200 points. */
export function* splitsOf<T extends Sliceable<T>>(stream: T): Generator<T[]> {
  const step = Math.ceil(stream.length / fewOf(stream.length, 200));
  yield [stream];
  for (let at = 1; at < stream.length; at += step) yield [stream.slice(0, at), stream.slice(at)];
  yield Array.from({ length: stream.length }, (_, at) => stream.slice(at, at + 1));
}

/** Whole, at some hundred points in two, and unit by unit: for streams that are too long for every point. */
export function* someSplitsOf<T extends Sliceable<T>>(stream: T): Generator<T[]> {
  const step = Math.ceil(stream.length / 100);
  yield [stream];
  for (let at = 1; at < stream.length; at += step) yield [stream.slice(0, at), stream.slice(at)];
  yield Array.from({ length: stream.length }, (_, at) => stream.slice(at, at + 1));
}

/** An event stream of these chunks; strings are put in as they are. */
export function streamOf(...events: readonly (object | string)[]): string {
  return events
    .map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`))
    .join('');
}

export const DONE = 'data: [DONE]\n\n';

/** A chunk that carries `delta` in its first choice, and `fields` beside it. */
export function chunk(delta: object, fields: object = {}): object {
  return { choices: [{ index: 0, delta, ...fields }] };
}

/** The last chunk of an answer. */
export function finish(reason: string): object {
  return chunk({}, { finish_reason: reason });
}

/** A chunk with deltas of tool calls. */
export function toolCalls(...calls: readonly object[]): object {
  return chunk({ tool_calls: calls });
}

/** A delta of one call in the usual form; undefined fields are left out. */
export function call(
  index: number | undefined,
  id: string | null | undefined,
  name: string | null | undefined,
  args?: unknown,
): object {
  return { index, id, type: 'function', function: { name, arguments: args } };
}
