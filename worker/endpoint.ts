/** The type of an endpoint: its handler, and the description that `/openapi.json` is made from. */
import type { Context } from 'hono';
import type * as z from 'zod';
import type { Right } from '../shared/api/keys.ts';
import { IdempotencyKey } from '../shared/api/requests.ts';
import type { ErrorCode } from '../shared/errors.ts';
import { REQUEST_LIMITS } from '../shared/limits.ts';
import type { AppContext } from './account/caller.ts';

/** JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

export const TAGS = {
  Chat: 'Messages and the responses to them.',
  Conversations: 'Conversations as a whole.',
  Agents: 'Conversations that work in the background.',
  Plans: 'Plans that a person changes and has executed.',
  Answers: 'A person’s answers to approvals and questions.',
  Account: 'The caller’s account, models, tools and bridges.',
  Apps: 'Apps whose users talk to the agent.',
  People: 'The sessions of people, and the ways in.',
  Accounts: 'What the server’s operator does to accounts.',
  Bridges: 'The machines where the tools run.',
  Cursor: 'Agents as clients of Cursor’s Cloud Agents API v1 see them.',
  'AI SDK': 'The agent as the chats of Vercel’s AI SDK see it.',
  OpenAI: 'The agent as OpenAI’s clients see a model. Errors have OpenAI’s shape here.',
  Service: 'The service itself.',
} as const;

/**
 * The token that an operation needs. `open`: none. `user`: a user's token. `stream`: a user's token, or a ticket for
 * the stream. `bridge`: a bridge's token. `operator`: a token of the server's operator.
 * `app`: the secret of an app's key. `metrics`: METRICS_TOKEN, which is no token of an account.
 */
export type EndpointAccess = WhoMayCall['access'];

/** Who may use an operation. A user of an app needs the right as well; `person`: users of apps may not at all. */
type WhoMayCall =
  | { readonly access: 'user' | 'stream'; readonly needs: Right | 'person' }
  | { readonly access: 'open' | 'bridge' | 'operator' | 'app' | 'metrics'; readonly needs?: never };

/** A value in the path, the query or a header. */
export interface Parameter {
  readonly description: string;
  /** The form that a client writes, if it differs from the zod schema's input: a number arrives as text. */
  readonly schema?: JsonSchema;
}

/** A parameter in the path. With `hasSlashes` its value runs to the path's end. */
export interface PathParameter extends Parameter {
  readonly zod: z.ZodType;
  readonly hasSlashes?: boolean;
}

/** The query of an operation. */
export interface EndpointQuery<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly schema: z.ZodObject<Shape>;
  readonly described: Readonly<Record<keyof Shape & string, Parameter>>;
}

/** Checks that each query parameter is described, then widens the type, so that a table can hold all queries. */
export function describeQuery<Shape extends z.ZodRawShape>(
  query: EndpointQuery<Shape>,
): EndpointQuery {
  return query;
}

/** The fields of a page in a query. `size`: that of a page without `limit`. */
export function describePage(
  what: string,
  size: number = REQUEST_LIMITS.pageSize,
  maximum: number = REQUEST_LIMITS.maxPageSize,
) {
  return {
    limit: {
      description: `The most ${what} on a page.`,
      schema: { type: 'integer', minimum: 1, maximum, default: size },
    },
    cursor: { description: '`nextCursor` of the previous page.' },
  } as const;
}

/** A request header that an operation reads. */
export interface Header extends Parameter {
  readonly name: string;
  readonly zod: z.ZodType;
}

/** The header of requests that begin a response. */
export const IDEMPOTENCY_KEY: Header = {
  name: 'Idempotency-Key',
  description:
    'Requests with the same key and the same body get the same response, which starts only once. The same key with another body is refused.',
  zod: IdempotencyKey,
};

/** One content type of a success. */
export type AnswerContent =
  /** Of NDJSON, the schema is that of a line. */
  | { readonly type: 'application/json' | 'application/x-ndjson'; readonly schema: z.ZodType }
  | { readonly type: 'text/markdown' | 'text/plain' }
  | {
      readonly type: 'text/event-stream';
      /** The schema of each event in any framing. */
      readonly events: z.ZodType;
      readonly examples: Readonly<Record<string, { summary: string; value: string }>>;
    };

export interface EndpointAnswer {
  readonly status: 101 | 200 | 201 | 204;
  readonly description: string;
  readonly content?: readonly AnswerContent[];
  /** Descriptions of the headers, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that has no {@link ErrorCode}. */
export interface EndpointRefusal {
  readonly status: number;
  readonly code: string;
}

/** A success as JSON. */
export function jsonAnswer(
  status: 200 | 201,
  description: string,
  schema: z.ZodType,
): EndpointAnswer {
  return { status, description, content: [{ type: 'application/json', schema }] };
}

export type Operation = WhoMayCall & OperationFields;

interface OperationFields {
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI's notation: `/api/v1/conversations/{id}`. */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  /** `run` if the operation begins a run. It then counts against both limits, of runs and of requests. */
  readonly rate?: 'run';
  /** Whether an account does only one such operation at a time (account/heavy-work.ts). */
  readonly isHeavy?: true;
  readonly params?: Readonly<Record<string, PathParameter>>;
  readonly query?: EndpointQuery;
  readonly headers?: readonly Header[];
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown };
  readonly answers: readonly EndpointAnswer[];
  /** Errors beyond those that follow from `access`, `params`, `query`, `headers` and `body` (api/openapi/refusals.ts). */
  readonly errors?: readonly ErrorCode[];
  readonly refusals?: readonly EndpointRefusal[];
}

/** An operation with its handler. worker/app.ts serves only endpoints, and `/openapi.json` describes all of them. */
export type Endpoint = Operation & {
  handle(c: Context<AppContext>, serve: Serve): Response | Promise<Response>;
};

/** Answers another request as if it had come by itself. */
export type Serve = (request: Request) => Promise<Response>;
