/** The address that the API names as its own. */
import type { Env } from './env.ts';

interface OriginRequest {
  readonly env: Pick<Env, 'PUBLIC_URL'>;
  readonly req: { readonly url: string };
}

/** Whether a client that was given an address with this host name has reached the right server. */
export function isOwnHost(c: Parameters<typeof originOf>[0], host: string): boolean {
  const [asked, named] = [c.req.url, originOf(c)].map((url) => URL.parse(url)?.hostname);
  // The machine itself reaches a server with a public name by this one, too.
  return host === named || (host === asked && LOOPBACK.has(host));
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The operator's PUBLIC_URL; without it the origin that the request has named. */
export function originOf({ env, req }: OriginRequest): string {
  return env.PUBLIC_URL || new URL(req.url).origin;
}
