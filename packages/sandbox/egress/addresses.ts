/** Which addresses belong to the public internet, and not to this machine, its networks or special purposes. */
import { BlockList, isIP } from 'node:net';

/**
 * Whether the address is one of the public internet. By the IANA registries of special-purpose addresses; an IPv6
 * address that stands for an IPv4 address is never public, because what it stands for is another machine's choice.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !SPECIAL_4.check(address, 'ipv4');
    case 6:
      return !SPECIAL_6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Whether the address is one of this machine or of the links that it is on, also where an IPv6 address stands for it. */
export function isLoopbackOrLinkLocal(address: string): boolean {
  return isIP(address) === 4 ? NEAR_4.check(address, 'ipv4') : NEAR_6.check(address, 'ipv6');
}

const NEAR_4 = blockList('ipv4', '0.0.0.0/8 127.0.0.0/8 169.254.0.0/16');
// `::`, `::1` and all that stands for an IPv4 address; of NAT64 only what stands for the three networks above.
const NEAR_6 = blockList(
  'ipv6',
  '::/80 64:ff9b::/104 64:ff9b::7f00:0/104 64:ff9b::a9fe:0/112 fe80::/10',
);

/** Apart, because a list takes an IPv4 address for the IPv6 address that stands for it. */
const SPECIAL_4 = blockList(
  'ipv4',
  `
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
    224.0.0.0/3
  `,
);
// Everything outside of 2000::/3 is not assigned to the public internet.
const SPECIAL_6 = blockList(
  'ipv6',
  '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20',
);

/** `networks` are written `address/bits`. */
function blockList(family: 'ipv4' | 'ipv6', networks: string): BlockList {
  const list = new BlockList();
  for (const network of networks.trim().split(/\s+/)) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
