/** Parses HTTP input by its schema. Refuses malformed input with a code and the name of the field. */
import type { Context } from 'hono';
import type * as z from 'zod';
import { DrawbridgeError, formatPath, invalidRequest } from '../../shared/errors.ts';
import { JsonDepthError, parseJson } from '../../shared/text/json.ts';
import type { AppContext } from '../account/caller.ts';
import { requireLiving } from '../account/living-sessions.ts';
import { type BodyLimits, readText } from './read-text.ts';

/** The body, parsed as JSON of this schema. Throws INVALID_JSON, INVALID_REQUEST, and like {@link requireLiving}. */
export async function parseBody<Schema extends z.ZodType>(
  c: Context<AppContext>,
  schema: Schema,
  limits?: BodyLimits,
): Promise<z.output<Schema>> {
  const text = await readWhileLiving(c, () => readText(c.req.raw, limits));
  return parse(schema, jsonOf(text));
}

/** What `read` reads of the body. A large one can take half an hour, in which the sender's session may end. */
export async function readWhileLiving<Body>(
  c: Context<AppContext>,
  read: () => Promise<Body>,
): Promise<Body> {
  const body = await read();
  // The endpoints that need no token have no caller.
  const caller: AppContext['Variables']['caller'] | undefined = c.var.caller;
  if (caller && caller.scope !== 'operator') {
    await requireLiving(c.env, { account: caller.sub, session: caller.sid, isRead: true });
  }
  return body;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonDepthError) throw tooDeepRequest(error);
    throw new DrawbridgeError('INVALID_JSON', 'The body is not valid JSON');
  }
}

/** The refusal of JSON that nests too deeply, in the form of other refused fields. */
function tooDeepRequest({ path, message }: JsonDepthError): DrawbridgeError {
  const issue = { path: formatPath(path), message };
  const where = issue.path === '' ? '' : `${issue.path}: `;
  return new DrawbridgeError('INVALID_REQUEST', `${where}${message}`, {
    details: { issues: [issue] },
  });
}

export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error);
}

/** Checks an id in the path. Throws NOT_FOUND for a malformed id, which never becomes the name of an object. */
export function parseId(schema: z.ZodType<string>, id: string | undefined, what: string): string {
  const parsed = schema.safeParse(id);
  if (parsed.success) return parsed.data;
  throw new DrawbridgeError('NOT_FOUND', `There is no such ${what}`);
}
