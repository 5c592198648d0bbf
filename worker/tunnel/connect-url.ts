/** Writes and reads the URL by which the Worker asks a tunnel for a bridge's socket. */

export function formatConnectUrl(account: string, bridgeId: string): string {
  return `https://tunnel/connect?${new URLSearchParams({ account, bridgeId })}`;
}

/** Reads a URL that {@link formatConnectUrl} wrote. Only the Worker can send one, so it is not validated. */
export function parseConnectUrl(url: URL): { account: string; bridgeId: string } {
  const { account = '', bridgeId = '' } = Object.fromEntries(url.searchParams);
  return { account, bridgeId };
}
