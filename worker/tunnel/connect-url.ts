/** Writes and reads the URL by which the Worker asks a tunnel for a bridge's socket. */

/** What the bridge's token says. */
export interface Connecting {
  readonly account: string;
  readonly bridgeId: string;
  /** Until when the token is valid, which ends the tunnel. */
  readonly expiresMs: number;
  /** The session of the token. */
  readonly session?: string | undefined;
  /** The origin that the request has named. */
  readonly origin: string;
  /** What the proof of the hello must be for, with the challenge of this connection (shared/wire/proof.ts). */
  readonly subject: string;
  readonly challenge: string;
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
  const { expiresMs, ...texts } = Object.fromEntries(url.searchParams);
  const { account = '', bridgeId = '', session, origin = '', subject = '', challenge = '' } = texts;
  return { account, bridgeId, expiresMs: Number(expiresMs), session, origin, subject, challenge };
}
