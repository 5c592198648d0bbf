/** What comes in over HTTP, through its schema: malformed input stops here with a code and the offending field. */
import type { Context } from 'hono';
import type { z } from 'zod';
import { DrawbridgeError, invalidRequest } from '../../shared/errors.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';

/** The body as JSON of this schema. Reads no more than the limit, whatever Content-Length says. */
export async function parseBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await readText(c.req.raw);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new DrawbridgeError('INVALID_JSON', 'The body is not valid JSON');
  }
  return parse(schema, json);
}

export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error);
}

/** An id in the path: of a wrong form it cannot exist, and is never turned into an object's name. */
export function parseId(schema: z.ZodString, id: string, what: string): string {
  const parsed = schema.safeParse(id);
  if (parsed.success) return parsed.data;
  throw new DrawbridgeError('NOT_FOUND', `There is no such ${what}`);
}

async function readText(request: Request): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > REQUEST_LIMITS.maxBodyBytes) {
      throw new DrawbridgeError(
        'PAYLOAD_TOO_LARGE',
        `The body may hold ${REQUEST_LIMITS.maxBodyBytes} bytes`,
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
