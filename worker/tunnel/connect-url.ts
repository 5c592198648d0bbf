/** How the Worker asks a tunnel for a bridge's socket: a URL, written and read here. */

export function formatConnectUrl(account: string, bridgeId: string): string {
  return `https://tunnel/connect?${new URLSearchParams({ account, bridgeId })}`;
}

/** Only the Worker gets here, with what {@link formatConnectUrl} wrote. */
export function parseConnectUrl(url: URL): { account: string; bridgeId: string } {
  const { account = '', bridgeId = '' } = Object.fromEntries(url.searchParams);
  return { account, bridgeId };
}
