/** Tool calls put together from deltas: ids, indexes and names repeat, come late or never. */
import { isObject, type JsonObject, parseObject } from './loose-json.ts';
import { WellFormedText } from './well-formed.ts';

/** What one delta says of a call; what the wire leaves empty is absent here. */
export interface CallDelta {
  readonly id?: string | undefined;
  readonly index?: number | undefined;
  readonly name?: string | undefined;
  /** A fragment of JSON; a few servers send the object itself. */
  readonly arguments?: string | JsonObject | undefined;
  /** Fields that are not known here but wanted back upstream, such as Gemini's `extra_content`. */
  readonly extra?: JsonObject | undefined;
}

/** What a delta added to a call. */
export interface CallPiece {
  /** Counts the calls from 0 in the order they first appeared. */
  readonly call: number;
  /** Only once, when it becomes known. */
  readonly name?: string;
  readonly arguments?: string;
}

/** A call as far as it came. */
export interface GatheredCall {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly rawArguments: string;
  readonly extra: JsonObject | undefined;
}

/** Holds the calls of one answer. Decides nothing before the end: arguments that look complete may still go on. */
export class CallAssembly {
  readonly #calls: OpenCall[] = [];
  /** By the server's index, which is no more than a key: it may start at 1, jump, or be 0 for all. */
  readonly #slots = new Map<number, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  #latest: OpenCall | undefined;

  get calls(): readonly GatheredCall[] {
    return this.#calls;
  }

  /** Null for a delta that adds nothing to show. */
  push(delta: CallDelta): CallPiece | null {
    const call = this.#find(delta) ?? this.#add(delta);
    if (delta.index !== undefined) this.#slots.set(delta.index, call);
    if (delta.id !== undefined) this.#byId.set(delta.id, call);
    this.#latest = call;
    return append(call, delta);
  }

  /** The stream has ended: what was held back of each call. */
  end(): CallPiece[] {
    return this.#calls.flatMap((call) => pieceOf(call, undefined, call.pieces.end()) ?? []);
  }

  /** Undefined for the first delta of a new call. An id weighs most, then the index, then what came last. */
  #find(delta: CallDelta): OpenCall | undefined {
    const slot = delta.index === undefined ? undefined : this.#slots.get(delta.index);
    if (delta.id !== undefined) return this.#findById(delta.id, delta, slot);
    if (slot) return isAnother(slot, delta) ? undefined : slot;
    return delta.name === undefined ? this.#latest : undefined;
  }

  /** The same id at two indexes is two calls (LiteLLM), two ids at one index are too (Gemini's adapters). */
  #findById(id: string, delta: CallDelta, slot: OpenCall | undefined): OpenCall | undefined {
    if (slot?.id === id) return slot;
    const known = this.#byId.get(id);
    if (known && (known.index ?? delta.index) === (delta.index ?? known.index)) return known;
    // An id that comes by itself after its call has begun.
    const isLate = slot?.id === undefined && (!delta.name || !slot?.name);
    return isLate ? slot : undefined;
  }

  #add({ id, index }: CallDelta): OpenCall {
    const call: OpenCall = {
      number: this.#calls.length,
      id,
      index,
      name: undefined,
      rawArguments: '',
      isMixed: false,
      extra: undefined,
      pieces: new WellFormedText(),
    };
    this.#calls.push(call);
    return call;
  }
}

interface OpenCall {
  readonly number: number;
  id: string | undefined;
  /** The index of its first delta. */
  readonly index: number | undefined;
  name: string | undefined;
  rawArguments: string;
  /** Whole arguments came behind others that were none. */
  isMixed: boolean;
  extra: JsonObject | undefined;
  readonly pieces: WellFormedText;
}

/** Servers without ids reuse an index: a second whole call there is another one, unless it repeats the first. */
function isAnother(call: OpenCall, { name, arguments: sent }: CallDelta): boolean {
  if (call.id !== undefined || name === undefined || sent === undefined || call.isMixed)
    return false;
  const raw = rawOf(sent);
  if (!parseObject(raw)) return false;
  if (parseObject(call.rawArguments)) return name !== call.name || raw !== call.rawArguments;
  // Looking again each time would cost the square of what comes.
  call.isMixed = call.rawArguments !== '';
  return false;
}

function append(call: OpenCall, delta: CallDelta): CallPiece | null {
  call.id ??= delta.id;
  if (delta.extra) call.extra = { ...call.extra, ...delta.extra };
  const name = call.name === undefined ? delta.name : undefined;
  call.name ??= delta.name;
  return pieceOf(call, name, call.pieces.push(rawOf(delta.arguments)));
}

function pieceOf(call: OpenCall, name: string | undefined, raw: string): CallPiece | null {
  call.rawArguments += raw;
  if (name === undefined && raw === '') return null;
  return {
    call: call.number,
    ...(name !== undefined && { name }),
    ...(raw !== '' && { arguments: raw }),
  };
}

function rawOf(sent: CallDelta['arguments']): string {
  return isObject(sent) ? JSON.stringify(sent) : (sent ?? '');
}
