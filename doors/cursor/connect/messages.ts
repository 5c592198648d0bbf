/** The messages of aiserver.proto in both codecs: protobuf's binary form, and its JSON form. */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import * as z from 'zod';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { parseJson } from '../../../shared/text/json.ts';

/** A codec, as the last part of a content type names it. */
export type Codec = 'proto' | 'json';

const MESSAGE_TYPES = [
  'MESSAGE_TYPE_UNSPECIFIED',
  'MESSAGE_TYPE_HUMAN',
  'MESSAGE_TYPE_AI',
] as const;

/** JSON may give an enum's value by its name or its number, and null for a field that is not set. */
const MessageType = z
  .union([z.enum(MESSAGE_TYPES), z.int().transform((value) => MESSAGE_TYPES[value] ?? value)])
  .nullish()
  .transform((type) => type ?? MESSAGE_TYPES[0]);

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? '');

/** Either form of a message after decoding. Fields that nothing here reads are dropped. */
export const GetChatRequest = z.object({
  conversation: z
    .array(z.object({ text: Text, type: MessageType }))
    .max(REQUEST_LIMITS.maxHistoryMessages)
    .nullish()
    .transform((conversation) => conversation ?? []),
  workspaceRootPath: Text,
  modelDetails: z.object({ modelName: Text }).nullish(),
  conversationId: Text,
});
export type GetChatRequest = z.infer<typeof GetChatRequest>;

/** @throws for bytes that are no message of this type in this codec. */
export function readChatRequest(bytes: Uint8Array, codec: Codec): GetChatRequest {
  return GetChatRequest.parse(
    codec === 'proto' ? readMessage(bytes, CHAT_REQUEST) : withJsonNames(jsonIn(bytes)),
  );
}

/** Checks a message without fields. @throws like {@link readChatRequest}. */
export function readEmpty(bytes: Uint8Array, codec: Codec): void {
  if (codec === 'json') z.object({}).parse(jsonIn(bytes));
  else readMessage(bytes, {});
}

export function writeChatResponse(text: string, codec: Codec): Uint8Array {
  if (codec === 'json') return toJson(text === '' ? {} : { text });
  const writer = new BinaryWriter();
  return text === '' ? writer.finish() : stringField(writer, 1, text).finish();
}

export function writeModels(names: readonly string[], codec: Codec): Uint8Array {
  if (codec === 'json') {
    return toJson({ modelNames: names, models: names.map((name) => ({ name })) });
  }
  const writer = new BinaryWriter();
  for (const name of names) stringField(writer, 1, name);
  for (const name of names) {
    const model = stringField(new BinaryWriter(), 1, name).finish();
    writer.tag(2, WireType.LengthDelimited).bytes(model);
  }
  return writer.finish();
}

/** JSON whose names are those of a .proto file, or their lowerCamelCase; both are valid. */
function withJsonNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withJsonNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      withJsonNames(field),
    ]),
  );
}

/** A field as aiserver.proto declares it. `kind` is a table for a message. */
interface MessageField {
  readonly name: string;
  readonly kind: 'string' | 'enum' | MessageFields;
  readonly isRepeated?: true;
}

/** The fields of a message, by number. */
type MessageFields = Readonly<Record<number, MessageField>>;

const MESSAGE: MessageFields = {
  1: { name: 'text', kind: 'string' },
  2: { name: 'type', kind: 'enum' },
};

const CHAT_REQUEST: MessageFields = {
  2: { name: 'conversation', kind: MESSAGE, isRepeated: true },
  5: { name: 'workspaceRootPath', kind: 'string' },
  7: { name: 'modelDetails', kind: { 1: { name: 'modelName', kind: 'string' } } },
  15: { name: 'conversationId', kind: 'string' },
};

/** Skips unknown fields, and known ones of another wire type, as protobuf demands. */
function readMessage(bytes: Uint8Array, fields: MessageFields): Record<string, unknown> {
  const reader = new BinaryReader(bytes);
  const message: Record<string, unknown> = {};
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = fields[number];
    const expected = field?.kind === 'enum' ? WireType.Varint : WireType.LengthDelimited;
    if (!field || wireType !== expected) {
      reader.skip(wireType, number);
      continue;
    }
    const value = readValue(reader, field);
    message[field.name] = field.isRepeated ? appended(message[field.name], value) : value;
  }
  return message;
}

function readValue(reader: BinaryReader, { kind }: MessageField): unknown {
  if (kind === 'string') return reader.string(true);
  return kind === 'enum' ? reader.int32() : readMessage(reader.bytes(), kind);
}

/** Bounded here, because a small body can hold some hundred thousand empty messages. */
function appended(list: unknown, value: unknown): unknown[] {
  const values = Array.isArray(list) ? list : [];
  if (values.length === REQUEST_LIMITS.maxHistoryMessages) throw new Error('too many messages');
  values.push(value);
  return values;
}

function stringField(writer: BinaryWriter, field: number, text: string): BinaryWriter {
  return writer.tag(field, WireType.LengthDelimited).string(text.toWellFormed());
}

function jsonIn(bytes: Uint8Array): unknown {
  return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes));
}

function toJson(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
