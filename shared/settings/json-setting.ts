/** Reads settings of the Worker whose value is JSON. */
import type * as z from 'zod';
import { DrawbridgeError, invalidRequest } from '../errors.ts';

/** The setting `name`. `form`: what its JSON is ("a JSON list of models"). @throws NOT_CONFIGURED, with the field */
export function parseJsonSetting<Value>(
  { name, form }: { readonly name: string; readonly form: string },
  schema: z.ZodType<Value>,
  text: string,
): Value {
  const parsed = schema.safeParse(parseJson(text, `${name}: must be ${form}`));
  if (parsed.success) return parsed.data;
  const { message } = invalidRequest(parsed.error);
  const place = message.startsWith('[') ? message : `: ${message}`;
  throw new DrawbridgeError('NOT_CONFIGURED', `${name}${place}`, { cause: parsed.error });
}

function parseJson(text: string, problem: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DrawbridgeError('NOT_CONFIGURED', problem, { cause });
  }
}
