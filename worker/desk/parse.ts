/** Parses HTTP input by its schema. Refuses malformed input with a code and the name of the field. */
import type { Context } from 'hono';
import type * as z from 'zod';
import { DrawbridgeError, formatPath, invalidRequest } from '../../shared/errors.ts';
import { JsonDepthError, parseJson } from '../../shared/text/json.ts';
import type { AppContext } from '../account/caller.ts';
import { HEAVY_LIMITS } from '../account/limits.ts';
import { requireLiving } from '../account/living-sessions.ts';
import { ImageFilter } from '../images/take-out.ts';
import { BodyTurn } from './body-turn.ts';
import { ImageSpool } from './image-spool.ts';
import { type BodyLimits, readText } from './read-text.ts';

/** The body, parsed as JSON of this schema. Throws INVALID_JSON, INVALID_REQUEST, and like {@link takeBody}. */
export async function parseBody<Schema extends z.ZodType>(
  c: Context<AppContext>,
  schema: Schema,
  limits?: BodyLimits,
): Promise<z.output<Schema>> {
  return await takeBody(
    c,
    (turn) => readText(c.req.raw, limits, turn),
    (text) => parse(schema, jsonOf(text)),
  );
}

/**
 * The same for a message. Sets `c.var.images`, where its large images wait for their conversation: `senderOf` hands them
 * on. @throws as {@link parseBody} and {@link ImageSpool.hold}
 */
export async function parseMessage<Schema extends z.ZodType>(
  c: Context<AppContext>,
  schema: Schema,
  limits?: BodyLimits,
): Promise<z.output<Schema>> {
  const spool = new ImageSpool(c.env, {
    account: c.var.caller.sub,
    left: c.req.raw.signal,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  });
  c.set('images', spool);
  const filter = new ImageFilter(spool);
  return await takeBody(
    c,
    (turn) => readText(c.req.raw, limits, turn, filter),
    (text) => parse(schema, jsonOf(text)),
  );
}

/**
 * What is made of the body: of a large one in a turn of its account. It can take half an hour, in which the sender's
 * session may end. Throws like `read`, {@link BodyTurn.take} and {@link requireLiving}.
 */
export async function takeBody<Body extends { readonly length: number }, Made>(
  c: Context<AppContext>,
  read: (turn: BodyTurn | undefined) => Promise<Body>,
  make: (body: Body) => Made,
): Promise<Made> {
  // The endpoints that need no token have no caller.
  const caller: AppContext['Variables']['caller'] | undefined = c.var.caller;
  const turn = caller && !c.var.turn ? new BodyTurn(caller.sub, c.req.raw.signal) : undefined;
  try {
    const body = await read(turn);
    if (body.length > HEAVY_LIMITS.bodyBytes) await turn?.take();
    if (caller && caller.scope !== 'operator') {
      await requireLiving(c.env, { account: caller.sub, session: caller.sid, isRead: true });
    }
    if (!turn?.isHeld) return make(body);
    // Reading, parsing and storing take some 20 ms each: others come between.
    await scheduler.wait(HEAVY_LIMITS.restMs);
    const made = make(body);
    await scheduler.wait(HEAVY_LIMITS.restMs);
    keepUntilStored(c, turn, body.length);
    return made;
  } catch (error) {
    turn?.[Symbol.dispose]();
    throw error;
  }
}

/** Not until the end of the request, which may wait for the whole answer. */
function keepUntilStored(c: Context<AppContext>, turn: Disposable, length: number): void {
  c.set('turn', turn);
  const { bodyMsPerByte, imageMsPerChar } = HEAVY_LIMITS;
  const imagesMs = (c.var.images?.chars ?? 0) * imageMsPerChar;
  const stored = scheduler.wait(length * bodyMsPerByte + imagesMs);
  c.executionCtx.waitUntil(stored.finally(() => turn[Symbol.dispose]()));
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
