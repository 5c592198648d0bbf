/** Decides where webhooks and messages to ntfy may go. A client chooses the URL, which must not lead into a private network. Pure. */
import { DrawbridgeError } from '../../shared/errors.ts';

/** The operator's setting. */
export interface AddressEnv {
  /** Origins that messages may go to although they are private or have no https, separated by commas. */
  readonly WEBHOOK_ORIGINS?: string;
}

/**
 * How a message may reach a URL. `public`: only at public addresses. `any`: the operator has named its origin. A URL
 * parser has brought every notation of an IP address into one form, so `0x7f.1` is `127.0.0.1` here. `field`: the name
 * of the URL in the request that chose it.
 * @throws {DrawbridgeError} WEBHOOK_NOT_ALLOWED
 */
export function reachOf(address: string, env: AddressEnv, field: string): 'public' | 'any' {
  const notAllowed = (why: string) =>
    new DrawbridgeError(
      'WEBHOOK_NOT_ALLOWED',
      `${field}: ${why}. The operator of this server can allow its origin by WEBHOOK_ORIGINS`,
    );
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) throw notAllowed('it is not an https URL');
  if (url.username !== '' || url.password !== '')
    throw notAllowed('it has a user name or password');
  if (isNamed(url, env)) return 'any';
  if (url.protocol !== 'https:') throw notAllowed('it is not an https URL');
  if (isPrivate(url.hostname)) throw notAllowed('it leads into a private network');
  return 'public';
}

/** Whether the operator has named the origin of this URL. */
export function isNamed({ origin }: URL, { WEBHOOK_ORIGINS = '' }: AddressEnv): boolean {
  const named = WEBHOOK_ORIGINS.split(',').map((each) => each.trim().replace(/\/$/, ''));
  return named.includes(origin);
}

function isPrivate(hostname: string): boolean {
  if (hostname.startsWith('[')) return !isPublicIpv6(hostname.slice(1, -1));
  const name = hostname.replace(/\.$/, '');
  if (/^\d+\.\d+\.\d+\.\d+$/.test(name)) return IPV4_PRIVATE.some((block) => isIn(block, name));
  return !name.includes('.') || PRIVATE_NAMES.test(name);
}

/** Names for private networks (RFC 6761, 6762, 8375, ICANN's `internal`), and those that routers commonly use. */
const PRIVATE_NAMES = /\.(localhost|local|internal|home\.arpa|lan|home|corp|intranet|private)$/;

/** All blocks of IANA's registry of special addresses, multicast and the reserved class E. */
const IPV4_PRIVATE = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];

function isIn(block: string, address: string): boolean {
  const [base = '', length] = block.split('/');
  const shift = 32 - Number(length);
  return numberOf(base) >>> shift === numberOf(address) >>> shift;
}

function numberOf(ipv4: string): number {
  return ipv4.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Whether the address is global unicast (2000::/3), and neither Teredo, documentation nor IPv4 inside. */
function isPublicIpv6(address: string): boolean {
  const [first = 0, second = 0] = address
    .split(':')
    .map((group) => Number.parseInt(group || '0', 16));
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2002 || (first === 0x3fff && second < 0x1000)) return false;
  return first !== 0x2001 || (second >= 0x200 && second !== 0xdb8);
}
