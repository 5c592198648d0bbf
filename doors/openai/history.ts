/**
 * Reads what was said before, in the shape of Chat Completions, Responses or the AI SDK, and of any provider. Nothing
 * in it is an error: what the model cannot read becomes a note.
 */
import { type ChatMessage, ContentPart, textOf } from '../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { isTextType, tagged } from '../../worker/door-reading.ts';

/** The fields that are read, as far as a value from outside has them. */
type Fields = { readonly [Name in FieldName]?: unknown };

type FieldName =
  | ('role' | 'type' | 'id' | 'content' | 'parts' | 'text' | 'refusal' | 'transcript')
  | ('tool_calls' | 'function_call' | 'audio' | 'function' | 'custom' | 'name' | 'toolName')
  | ('call_id' | 'tool_call_id' | 'toolCallId' | 'tool_use_id' | 'arguments' | 'input')
  | ('output' | 'outputs' | 'result' | 'error' | 'errorText' | 'data' | 'detail')
  | ('file' | 'file_data' | 'filename' | 'image_url' | 'mediaType' | 'url');

/** Any value as an object, which has no field where the value is none. */
export function fieldsOf(value: unknown): Fields {
  return Object(value);
}

/** How the calls read so far look, by their ids. */
export type Called = Map<string, string>;

/** Text that stands in a message of its own: data, or a note. */
interface Aside {
  readonly type: 'aside';
  readonly text: string;
}
type ReadPart = ContentPart | Aside;
type TextPart = Extract<ContentPart, { type: 'text' }>;

/**
 * The messages in order. The tools of a history belong to another agent, so their calls are dropped. Their results stay
 * as tagged data in messages of the user, as do notes. In messages of the assistant, the model would imitate them and
 * write calls as text instead of making them.
 */
export function toChatMessages(items: readonly unknown[], called: Called): ChatMessage[] {
  return items.flatMap((item): ChatMessage[] => {
    const { role, content, parts, refusal, tool_calls, function_call, audio } = fieldsOf(item);
    const as = role === 'developer' ? 'system' : role;
    if (as !== 'system' && as !== 'user' && as !== 'assistant') {
      return asidesOf(piecesOf(item, called).map(toData));
    }
    const sound = audio && { type: 'audio' };
    const said = [parts ?? content, refusal, tool_calls, function_call, sound];
    const read = piecesOf(said, called);
    const pieces = as === 'user' ? read : read.map(toText);
    const words = pieces.filter((piece) => piece.type !== 'aside');
    const message =
      as === 'user' && words.some(({ type }) => type !== 'text') ? words : textOf(words);
    const own: ChatMessage[] = message === '' ? [] : [{ role: as, content: message }];
    const asides = asidesOf(pieces);
    return as === 'assistant' ? [...own, ...asides] : [...asides, ...own];
  });
}

/** One message, in which nothing stands twice: a list of empty objects takes less space than their notes. */
function asidesOf(pieces: readonly ReadPart[]): ChatMessage[] {
  const texts = new Set(pieces.flatMap((piece) => (piece.type === 'aside' ? piece.text : [])));
  return texts.size === 0 ? [] : [{ role: 'user', content: [...texts].join('\n\n') }];
}

/** Only messages of the user hold more than text. */
function toText(piece: ReadPart): Aside | TextPart {
  if (piece.type === 'image_url') return note('image');
  return piece.type === 'aside' ? piece : { type: 'text', text: textOf([piece]) };
}

/** A piece that no message holds: who said it is unknown. */
function toData(piece: ReadPart): Aside {
  const { type, text } = toText(piece);
  return aside(type === 'text' ? tagged('earlier_message', text) : text);
}

function aside(text: string): Aside {
  return { type: 'aside', text };
}

function note(what: string): Aside {
  return aside(`[${what}, left out]`);
}

function piecesOf(value: unknown, called: Called): ReadPart[] {
  if (Array.isArray(value)) {
    const read = value.slice(0, REQUEST_LIMITS.maxHistoryMessages);
    return read.flatMap((each) => piecesOf(each, called));
  }
  if (value === undefined || value === null || value === '') return [];
  if (typeof value !== 'object') return [{ type: 'text', text: String(value) }];
  const part = fieldsOf(value);
  const type = plain(part.type ?? part.role) ?? 'unknown item';
  if (isSilent(type)) return [];
  const said = [part.text, part.refusal, part.transcript].find((text) => typeof text === 'string');
  if (said !== undefined) return piecesOf(said, called);
  const own = ContentPart.safeParse(ownPart(part));
  if (own.success) return [own.data];
  const file = textFileIn(part);
  if (file !== undefined) return [aside(file)];
  const { filename } = fieldsOf(part.file ?? part);
  const name = typeof filename === 'string' ? ` ${nameInLine(filename)}` : '';
  if (ATTACHED.test(type)) return [note(phraseOf(type) + name)];
  return resultIn(part, type, called);
}

/** Thoughts, sources, other data and marks of steps say nothing to a model. */
export function isSilent(type: unknown): boolean {
  return /^(reasoning|\w*thinking$|step-|source-|data-(?!mention$))/.test(plain(type) ?? '');
}

const ATTACHED = /^((in|out)put_)?(image|audio|file|video|media|document)|screenshot$/;

/** What it is, as a reader calls it. */
function phraseOf(type: string): string {
  const words = type.replace(/^(in|out)put_/, '').replace(/[^\p{L}\p{N}]+/gu, ' ');
  return words.slice(0, REQUEST_LIMITS.maxNameChars).trim();
}

/** A part in the form of our own requests, if it has one. */
export function ownPart(part: Fields): unknown {
  const { type, image_url: image, detail, mediaType } = part;
  const data = fieldsOf(part.data);
  if (type === 'data-mention') return { type: 'url' in data ? 'url' : 'path', ...data };
  const given = typeof image === 'object' ? fieldsOf(image) : { url: image, detail };
  const isImage = given.url !== undefined || isImageType(mediaType);
  if (!isImage) return part;
  const own = /^(auto|low|high)$/.test(plain(given.detail) ?? '') && { detail: given.detail };
  return { type: 'image_url', image_url: { url: given.url ?? part.url, ...own } };
}

/** Whether this is the type of an image's content. */
export function isImageType(mediaType: unknown): boolean {
  return /^image(\/|$)/.test(plain(mediaType) ?? '');
}

/** The text of an attached file, for the model; undefined for a file that is none, or has only an address. */
export function textFileIn(part: unknown): string | undefined {
  const { mediaType, file } = fieldsOf(part);
  const { file_data: data, url, filename } = fieldsOf(file ?? part);
  const given = plain(data ?? url) ?? '';
  const [head = '', type = ''] = /^data:([^;,]*)[^,]*,/.exec(given) ?? [];
  const named = type || (plain(mediaType) ?? '');
  if (head === '' || (named !== '' && !isTextType(named))) return undefined;
  try {
    const body = given.slice(head.length);
    const text = head.endsWith(';base64,') ? fromBase64(body) : decodeURIComponent(body);
    if (text.includes('\0')) return undefined;
    return tagged('attached_file', `${nameInLine(plain(filename) ?? 'unnamed')}\n${text}`);
  } catch {
    return undefined; // Neither base64 nor UTF-8.
  }
}

function fromBase64(body: string): string {
  const bytes = Uint8Array.from(atob(body), (char) => char.charCodeAt(0));
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
}

/** The result of a call, or what else has a content, as data. A call is remembered for its result. */
function resultIn(part: Fields, type: string, called: Called): ReadPart[] {
  const call = fieldsOf(part.function ?? part.custom ?? part);
  const callId = plain(part.call_id ?? part.toolCallId ?? part.tool_call_id ?? part.tool_use_id);
  const id = callId ?? plain(part.id);
  const name = plain(call.name ?? call.toolName) ?? /^tool-(.+)/.exec(type)?.[1];
  const made = name && `${name}(${wordsOf(call.arguments ?? call.input ?? '')})`;
  const known = (id && called.get(id)) || made || undefined;
  if (known && id) called.set(id, known);
  const output = part.errorText ?? part.error ?? part.output ?? part.outputs ?? part.result ?? null;
  const content = part.content ?? part.parts ?? null;
  if (output === null && content === null) {
    return known ? [] : [aside(`[${phraseOf(type)} of another provider]`)];
  }
  const isMessage = output === null && (known ?? callId) === undefined;
  const head = isMessage ? phraseOf(type) : (known ?? id ?? phraseOf(type));
  const tag = isMessage ? 'earlier_message' : 'earlier_tool_result';
  return [aside(tagged(tag, `${head}\n\n${wordsOf(output ?? content)}`))];
}

/** An object of a client may have no text of its own: its `toString` can be anything. */
function plain(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** A result as text: of parts their texts, and notes of the others; else JSON. */
export function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const parts = [value].flat();
  const areTyped = parts.every((part) => typeof fieldsOf(part).type === 'string');
  return areTyped ? parts.map(wordsIn).join('') : JSON.stringify(value);
}

function wordsIn(part: unknown): string {
  const { type, text, refusal } = fieldsOf(part);
  const said = TEXT.test(`${type}`) ? (text ?? refusal) : undefined;
  if (typeof said === 'string') return said;
  if (isSilent(type)) return '';
  const isFile = ATTACHED.test(`${type}`) && HELD.some((name) => Object.hasOwn(Object(part), name));
  return isFile ? note(phraseOf(`${type}`)).text : JSON.stringify(part);
}

const TEXT = /^(((in|out)put_)?text|refusal)$/;
/** Fields with the content of a file. An entry of a listing can have the type `file`, too. */
const HELD = ['data', 'source', 'image_url', 'file_data', 'file_id', 'file', 'mediaType'];
