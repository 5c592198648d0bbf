/** An operation of the API with what answers it: a route and its description are one thing. */
import type { Context } from 'hono';
import type * as z from 'zod';
import type { ErrorCode } from '../shared/errors.ts';
import type { AppContext } from './people/caller.ts';

/** JSON Schema 2020-12, which OpenAPI 3.1 takes as it is. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

export const TAGS = {
  Chat: 'Messages and the responses to them.',
  Conversations: 'Conversations as a whole.',
  Answers: 'What only a person can decide: approvals and questions.',
  Account: 'What there is for the caller.',
  Bridges: 'The machines where the tools run.',
  OpenAI: 'The agent as OpenAI’s clients see a model. Errors have OpenAI’s shape here.',
  Service: 'The service itself.',
} as const;

/** Who gets in: anybody, a user's token, that or a ticket for the stream, a bridge's token. */
export type Access = 'open' | 'user' | 'stream' | 'bridge';

/** A value in the path, the query or a header. */
export interface Parameter {
  readonly description: string;
  /** What a client writes, where the zod schema only tells how it is read: a number arrives as text. */
  readonly schema?: JsonSchema;
}

/** A name within the path. With `hasSlashes` its value runs to the path's end. */
export interface PathParameter extends Parameter {
  readonly zod: z.ZodType;
  readonly hasSlashes?: boolean;
}

/** What an operation reads behind the `?`. */
export interface Query<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly schema: z.ZodObject<Shape>;
  readonly described: Readonly<Record<keyof Shape & string, Parameter>>;
}

/** Keeps the query's names while the table holds all queries as one type. */
export function describeQuery<Shape extends z.ZodRawShape>(query: Query<Shape>): Query {
  return query;
}

/** A request header that an operation reads. */
export interface Header extends Parameter {
  readonly name: string;
  readonly zod: z.ZodType;
}

/** One form of a success. A string is a text that only the description tells more of. */
export type Content =
  | { readonly type: 'application/json'; readonly schema: z.ZodType }
  | { readonly type: 'text/markdown' }
  | {
      readonly type: 'text/event-stream';
      /** What each event is, whatever its framing. */
      readonly events: z.ZodType;
      readonly examples: Readonly<Record<string, { summary: string; value: string }>>;
    };

export interface Answer {
  readonly status: 101 | 200 | 201 | 204;
  readonly description: string;
  readonly content?: readonly Content[];
  /** Headers by name, with what they say. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error under its status, where no code of ours stands for it. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}

/** A success as JSON. */
export function jsonAnswer(status: 200 | 201, description: string, schema: z.ZodType): Answer {
  return { status, description, content: [{ type: 'application/json', schema }] };
}

export interface Operation {
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/api/v1/conversations/{id}`. */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** `run` for what begins a run: it counts for the rate of runs as well as for that of requests. */
  readonly rate?: 'run';
  /** The names within the path. */
  readonly params?: Readonly<Record<string, PathParameter>>;
  readonly query?: Query;
  readonly headers?: readonly Header[];
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown };
  readonly answers: readonly Answer[];
  /** Beyond those that follow from `access`, `query` and `body` (api/openapi/refusals.ts). */
  readonly errors?: readonly ErrorCode[];
  readonly refusals?: readonly Refusal[];
}

/** The only way to a route: worker/app.ts serves these, `/openapi.json` describes them. */
export interface Endpoint extends Operation {
  handle(c: Context<AppContext>): Response | Promise<Response>;
}
