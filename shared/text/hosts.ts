/** Hosts as requests, rules and people write them: `host`, `host:port`, `*.example.com`. */

/** A host in lower case, with a port. An IPv6 address is written without its brackets. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** The ports that stand behind a name without a port. */
export const USUAL_PORTS: readonly number[] = [443, 80];

/** What the machine's whole network is written as. */
export const WHOLE_NETWORK = '*';

/** Reads `host:port`, as in a CONNECT request and a URL; undefined for anything but a plain name or address. */
export function parseHostPort(text: string, usualPort?: number): HostPort | undefined {
  const [, bracketed, plain, digits] = AUTHORITY.exec(text) ?? [];
  const host = (bracketed ?? plain)?.toLowerCase();
  const port = digits === undefined ? usualPort : Number(digits);
  if (host === undefined || port === undefined || port < 1 || port > MAX_PORT) return undefined;
  return bracketed === undefined && !isName(host) ? undefined : { host, port };
}

/** In brackets only an address with colons: any name in them would be another writing of the name, for no rule. */
const AUTHORITY = /^(?:\[(?=[^\]]*:)([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,253}))(?::([0-9]{1,5}))?$/i;
const MAX_PORT = 65_535;

function isName(host: string): boolean {
  return host.split('.').every((label) => label.length > 0 && label.length <= 63);
}

/** Whether the host is an address, as browsers decide it: `127.1` and `0x7f000001` are addresses, too. */
export function isAddress(host: string): boolean {
  return host.includes(':') || /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/i.test(host);
}

/** As people and rules write it, with the usual ports left out. */
export function hostText({ host, port }: HostPort): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return USUAL_PORTS.includes(port) ? name : `${name}:${port}`;
}
