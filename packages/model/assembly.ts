/** Puts tool calls together from deltas. Ids, indexes and names may repeat, come late or be missing. */
import { isObject } from '../../shared/text/json.ts';
import { type JsonObject, parseObject } from './loose-json.ts';
import { WellFormedText } from './well-formed.ts';

/** One delta of a call. A field that is empty on the wire is absent here. */
export interface CallDelta {
  readonly id?: string | undefined;
  readonly index?: number | undefined;
  readonly name?: string | undefined;
  /** A fragment of JSON, or the object itself, which a few servers send. */
  readonly arguments?: string | JsonObject | undefined;
  /** Unknown fields, which the upstream may want back, for example Gemini's `extra_content`. */
  readonly extra?: JsonObject | undefined;
}

/** The name and the arguments that a delta added to a call. */
export interface CallPiece {
  /** Counts the calls from 0 in the order they first appeared. */
  readonly call: number;
  /** Set once for each call, when the name comes. */
  readonly name?: string;
  readonly arguments?: string;
}

/** A call as far as it has come. */
export interface GatheredCall {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly rawArguments: string;
  readonly extra: JsonObject | undefined;
}

/** Holds the calls of one answer. A call is complete only at the end: arguments that look complete may still go on. */
export class CallAssembly {
  readonly #calls: CallInParts[] = [];
  /** By the server's index. The index is only a key: it may start at 1, jump, or be 0 for all calls. */
  readonly #slots = new Map<number, CallInParts>();
  readonly #byId = new Map<string, CallInParts>();
  #latest: CallInParts | undefined;

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

  /** Call at the end of the stream. Returns what was held back of each call. */
  end(): CallPiece[] {
    return this.#calls.flatMap((call) => pieceOf(call, undefined, call.pieces.end()) ?? []);
  }

  /** Finds the delta's call by id, then by index, then the latest call. Undefined for the first delta of a new call. */
  #find(delta: CallDelta): CallInParts | undefined {
    const slot = delta.index === undefined ? undefined : this.#slots.get(delta.index);
    if (delta.id !== undefined) return this.#findById(delta.id, delta, slot);
    if (slot) return isAnother(slot, delta) ? undefined : slot;
    return delta.name === undefined ? this.#latest : undefined;
  }

  /** The same id at two indexes means two calls (LiteLLM), and so do two ids at one index (Gemini's adapters). */
  #findById(id: string, delta: CallDelta, slot: CallInParts | undefined): CallInParts | undefined {
    if (slot?.id === id) return slot;
    const known = this.#byId.get(id);
    if (known && (known.index ?? delta.index) === (delta.index ?? known.index)) return known;
    // An id may come by itself after its call has started.
    const isLate = slot?.id === undefined && (!delta.name || !slot?.name);
    return isLate ? slot : undefined;
  }

  #add({ id, index }: CallDelta): CallInParts {
    const call: CallInParts = {
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

interface CallInParts {
  readonly number: number;
  id: string | undefined;
  /** The index of its first delta. */
  readonly index: number | undefined;
  name: string | undefined;
  rawArguments: string;
  /** A delta with whole arguments came after a fragment that was not whole. */
  isMixed: boolean;
  extra: JsonObject | undefined;
  readonly pieces: WellFormedText;
}

/** Servers without ids reuse an index: a second whole call at one index is a new call, unless it repeats the first. */
function isAnother(call: CallInParts, { name, arguments: sent }: CallDelta): boolean {
  if (call.id !== undefined || name === undefined || sent === undefined || call.isMixed)
    return false;
  const raw = rawOf(sent);
  if (!parseObject(raw)) return false;
  if (parseObject(call.rawArguments)) return name !== call.name || raw !== call.rawArguments;
  // Remembered, because parsing all arguments again for each delta would take quadratic time.
  call.isMixed = call.rawArguments !== '';
  return false;
}

function append(call: CallInParts, delta: CallDelta): CallPiece | null {
  call.id ??= delta.id;
  if (delta.extra) call.extra = { ...call.extra, ...delta.extra };
  const name = call.name === undefined ? delta.name : undefined;
  call.name ??= delta.name;
  return pieceOf(call, name, call.pieces.push(rawOf(delta.arguments)));
}

function pieceOf(call: CallInParts, name: string | undefined, raw: string): CallPiece | null {
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
