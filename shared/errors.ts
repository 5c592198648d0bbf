/** The one error class that crosses rooms: detailed inside the process, brief on the wire. */
import * as z from 'zod';
import { REQUEST_LIMITS } from './limits.ts';
import { named } from './named.ts';

/** Every code that a client can get, with its HTTP status. */
const STATUS = {
  INVALID_JSON: 400,
  INVALID_REQUEST: 400,
  INVALID_CURSOR: 400,
  INVALID_LAST_EVENT_ID: 400,
  BRIDGE_NOT_NAMED: 400,
  UNKNOWN_MODEL: 400,
  UNKNOWN_MODE: 400,
  MODEL_NOT_PRIVATE: 400,
  IMAGES_NOT_SUPPORTED: 400,
  COST_UNKNOWN: 400,
  WEBHOOK_NOT_ALLOWED: 400,
  NOT_IMPLEMENTED: 400,
  UNAUTHENTICATED: 401,
  SESSION_ENDED: 401,
  CLOCK_OFF: 401,
  FORBIDDEN: 403,
  LOGIN_REFUSED: 403,
  PASSKEY_REFUSED: 403,
  ACCOUNT_SUSPENDED: 403,
  ACCOUNT_DELETED: 403,
  APPROVAL_NOT_SIGNED: 403,
  APPROVAL_REFUSED: 403,
  NOT_FOUND: 404,
  REQUEST_TIMEOUT: 408,
  CONVERSATION_BUSY: 409,
  ALREADY_ANSWERED: 409,
  SUPERSEDED: 409,
  CONVERSATION_FULL: 409,
  ALREADY_STARTED: 409,
  PLAN_CHANGED: 409,
  PLAN_FINISHED: 409,
  AGENT_ARCHIVED: 409,
  AGENT_BUSY: 409,
  AGENT_ID_CONFLICT: 409,
  KEY_EXISTS: 409,
  KEY_CHANGED: 409,
  LOGIN_PENDING: 409,
  RUN_NOT_CANCELLABLE: 409,
  WORKTREES_NOT_SUPPORTED: 409,
  CONTENT_DELETED: 410,
  ENTRY_ENDED: 410,
  ENROLMENT_ENDED: 410,
  PAYLOAD_TOO_LARGE: 413,
  IDEMPOTENCY_CONFLICT: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  INTERNAL: 500,
  DAMAGED: 500,
  NOT_CONFIGURED: 500,
  UPSTREAM_ERROR: 502,
  UNAVAILABLE: 503,
  STORAGE_FULL: 507,
} as const;

export const ErrorCode = z.enum(Object.keys(STATUS) as (keyof typeof STATUS)[]);
named.add(ErrorCode, { id: 'ErrorCode' });
export type ErrorCode = z.infer<typeof ErrorCode>;

/** An error as a client gets it. `details` never has a stack, a path of the server or an upstream's body. */
export const WireError = z.object({
  error: z.object({
    code: ErrorCode,
    message: z.string(),
    details: z.unknown().optional(),
    /** The trace id of the request (shared/wire/trace.ts). */
    traceId: z.string().optional(),
  }),
});
named.add(WireError, { id: 'WireError' });
export type WireError = z.infer<typeof WireError>;

export function statusOf(code: ErrorCode): number {
  return STATUS[code];
}

/** An expected failure. The caller gets `message` and `details`; `cause` stays in the process. */
export class DrawbridgeError extends Error {
  override readonly name = 'DrawbridgeError';
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }
}

/** Turns anything thrown into what may leave the process. A bug becomes `INTERNAL` without details. */
export function toWireError(thrown: unknown): { status: number; body: WireError } {
  const error =
    thrown instanceof DrawbridgeError
      ? thrown
      : new DrawbridgeError(
          'INTERNAL',
          'Something went wrong on our side. The request can be sent again.',
        );
  const { code, message, details } = error;
  return {
    status: statusOf(code),
    body: { error: { code, message, ...(details !== undefined && { details }) } },
  };
}

/** Turns a schema's refusal into `INVALID_REQUEST`. The message names the first field, `details.issues` lists all. */
export function invalidRequest(error: z.ZodError): DrawbridgeError {
  const issues = error.issues.flatMap(innermost).map((issue) => ({
    path: formatPath(issue.path),
    message: issue.message,
  }));
  const first = issues[0];
  const where = first?.path ? `${first.path}: ` : '';
  return new DrawbridgeError('INVALID_REQUEST', `${where}${first?.message ?? 'Invalid request'}`, {
    details: { issues },
  });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Of a union without a matching form: the issues of the form that fits best, by their depth, then their number. */
function innermost(issue: z.core.$ZodIssue): readonly Issue[] {
  if (issue.code === 'unrecognized_keys') return unknownFields(issue);
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const forms = issue.errors.map((errors) => errors.flatMap(innermost));
  const depth = (form: readonly Issue[]) =>
    form.reduce((deepest, { path }) => Math.max(deepest, path.length), 0);
  const [best = []] = forms.sort((a, b) => depth(b) - depth(a) || a.length - b.length);
  if (depth(best) === 0) return [issue];
  return best.map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

/** Bounds the list: a body can have more and longer unknown fields than a person reads. */
function unknownFields({ path, keys }: z.core.$ZodIssueUnrecognizedKeys): Issue[] {
  return keys.slice(0, REQUEST_LIMITS.maxUnknownFields).map((key) => {
    const name = key.slice(0, REQUEST_LIMITS.maxNameChars).toWellFormed();
    return { path: [...path, name], message: 'There is no such field' };
  });
}

/** `messages[0].content` for `['messages', 0, 'content']`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) {
    text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`;
  }
  return text;
}
