/** The networks that strangers come from, by their addresses. */

/** Of IPv6 the 64 bits of the network, because a machine has all the others. Undefined for an unknown address. */
export function networkOf(address: string | undefined): string | undefined {
  return groupsOf(address, 4);
}

/** The network with its neighbours that one customer may have: of IPv6 48 bits (RFC 6177 has 48 to 64 for a site). */
export function siteOf(address: string | undefined): string | undefined {
  return groupsOf(address, 3);
}

function groupsOf(address: string | undefined, groups: number): string | undefined {
  const [head = '', ...rest] = address?.split('::') ?? [];
  if (!head.includes(':') && rest.length === 0) return head || undefined;
  return [...head.split(':'), '0', '0', '0'].slice(0, groups).join(':');
}
