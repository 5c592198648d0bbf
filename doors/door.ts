/**
 * An API of others over the Worker: their clients work unchanged. A door has endpoints, and stands on what the Worker
 * gives to all doors (`worker/door.ts`): submit a message, follow its answer, refuse.
 */
import type { Context, HonoRequest } from 'hono';
import type * as z from 'zod';
import type { DrawbridgeError } from '../shared/errors.ts';
import type { AppContext, Endpoint } from '../worker/door.ts';

export interface Door {
  readonly endpoints: readonly Endpoint[];
  /** By their names in `/openapi.json`. */
  readonly schemas: Readonly<Record<string, z.ZodType>>;
  /** Descriptions of fields whose names do not explain them, by the names of schemas. */
  readonly fields?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Calls by POST that no document describes, for callers with the right to chat. */
  readonly calls?: {
    readonly paths: readonly string[];
    readonly serve: (c: Context<AppContext>) => Promise<Response>;
  };
  /** An error as this API's clients read it; undefined for a path that is not this door's. */
  readonly refusal?: (
    request: Pick<HonoRequest, 'path' | 'raw'>,
    error: Error,
    headers: HeadersInit,
  ) => Response | undefined;
  /** The same for the document: the schema of an error, and its status and code. */
  readonly refusals?: {
    readonly schema: z.ZodType;
    readonly of: (error: DrawbridgeError) => { readonly status: number; readonly code: string };
  };
}
