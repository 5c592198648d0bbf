/** The address that the API names as its own. */
import type { Env } from './env.ts';

interface OriginRequest {
  readonly env: Pick<Env, 'PUBLIC_URL'>;
  readonly req: { readonly url: string };
}

/** The operator's PUBLIC_URL; without it the origin that the request has named. */
export function originOf({ env, req }: OriginRequest): string {
  return env.PUBLIC_URL || new URL(req.url).origin;
}
