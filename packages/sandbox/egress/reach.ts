/** Finds the addresses of a host, and connects to no others. */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { type HostPort, isAddress } from '../../../shared/text/hosts.ts';
import { isLoopbackOrLinkLocal, isPublicAddress } from './addresses.ts';

/** How the proxy finds hosts; another one in tests. */
export interface Resolver {
  readonly lookup: (host: string) => Promise<readonly FoundAddress[]>;
  readonly isPublic: (address: string) => boolean;
}

export interface FoundAddress {
  readonly address: string;
  readonly family: number;
}

export const SYSTEM_RESOLVER: Resolver = {
  lookup: async (host) => await systemLookup(host, { all: true }),
  isPublic: isPublicAddress,
};

/**
 * Where a host may lead: to the public internet alone, or to any address. No name but `localhost` leads to this machine
 * or to link-local addresses, because the owner of a name chooses its address.
 */
export type Reach = 'public' | 'any';

/**
 * The addresses of a host, found once: the connection uses these and resolves nothing again. Undefined where one of them may not
 * be reached, so that their order does not matter. Rejects for a name without an address.
 */
export async function addressesOf(
  { host }: HostPort,
  reach: Reach,
  { lookup, isPublic }: Resolver,
): Promise<readonly FoundAddress[] | undefined> {
  const isOwnName = isAddress(host) || host === 'localhost';
  const found = isAddress(host) ? literal(host) : await lookup(host);
  const isWithin = ({ address }: FoundAddress) =>
    reach === 'any' ? isOwnName || !isLoopbackOrLinkLocal(address) : isPublic(address);
  return found.length > 0 && found.every(isWithin) ? found : undefined;
}

/** Nothing for what only some systems read as an address. */
function literal(host: string): readonly FoundAddress[] {
  const family = isIP(host);
  return family === 0 ? [] : [{ address: host, family }];
}

/** For a connection's options: answers with these addresses, whatever is asked. */
export function pinnedTo(found: readonly FoundAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = found;
    if (first === undefined) return done(new Error('no address'), '', 0);
    if (options.all) return done(null, [...found]);
    done(null, first.address, first.family);
  };
}
