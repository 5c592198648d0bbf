/** Writes and reads the URL by which the Worker asks a tunnel for a bridge's socket. */

/** What the bridge's token says. */
export interface Connecting {
  readonly account: string;
  readonly bridgeId: string;
  /** Until when the token is valid, which ends the tunnel. */
  readonly expiresMs: number;
  /** The session of the token. */
  readonly session?: string | undefined;
}

export function formatConnectUrl({ expiresMs, session, ...ids }: Connecting): string {
  const query = new URLSearchParams({
    ...ids,
    expiresMs: `${expiresMs}`,
    ...(session && { session }),
  });
  return `https://tunnel/connect?${query}`;
}

/** Reads a URL that {@link formatConnectUrl} wrote. Only the Worker can send one, so it is not validated. */
export function parseConnectUrl(url: URL): Connecting {
  const { account = '', bridgeId = '', expiresMs, session } = Object.fromEntries(url.searchParams);
  return { account, bridgeId, expiresMs: Number(expiresMs), session };
}
