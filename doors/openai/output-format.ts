/** The form that an app wants of the final answer: text, any JSON object, or JSON by a schema. */
import * as z from 'zod';
import type { ChatMessage, OutputForm } from '../../shared/api/requests.ts';
import { KIB } from '../../shared/units.ts';

/** UTF-16 units of the JSON Schema of an answer. */
const MAX_SCHEMA_CHARS = 256 * KIB;

const Schema = z
  .record(z.string(), z.unknown())
  .refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARS, {
    error: `The schema may take ${MAX_SCHEMA_CHARS} characters`,
  });

const Text = z.object({ type: z.literal('text') }).transform(() => undefined);
const AnyObject = z.object({ type: z.literal('json_object') }).transform((): OutputForm => ({}));

/** `response_format` of Chat Completions. */
export const ResponseFormat = z.discriminatedUnion('type', [
  Text,
  AnyObject,
  z
    .object({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: Schema }) })
    .transform(({ json_schema: { schema } }): OutputForm => ({ schema })),
]);

/** `text.format` of Responses. */
export const TextFormat = z.discriminatedUnion('type', [
  Text,
  AnyObject,
  z
    .looseObject({ type: z.literal('json_schema'), schema: Schema })
    .transform(({ schema }): OutputForm => ({ schema })),
]);

/** What the model is told; [] for text. */
export function wishFor(output: OutputForm | undefined): ChatMessage[] {
  if (!output) return [];
  const what = output.schema
    ? `one JSON value that fits this JSON Schema: ${JSON.stringify(output.schema)}`
    : 'one JSON object';
  const content = `Your final answer, once your work with tools is done, is ${what}. It is read by a program: write nothing before or behind it, and no code fence.`;
  return [{ role: 'system', content }];
}
