/** Decides which push services the server sends to. A client names the address. Pure. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { type AddressEnv, isNamed } from '../deliveries/address.ts';

/** The push services of Safari, Chrome, Firefox and Edge. */
const SERVICES = [
  'push.apple.com',
  'fcm.googleapis.com',
  'push.services.mozilla.com',
  'notify.windows.com',
];

/**
 * How a message may reach the endpoint of a subscription. `public`: it is at a browser's push service. `any`: the
 * operator has named its origin (WEBHOOK_ORIGINS).
 * @throws {DrawbridgeError} INVALID_REQUEST for any other address.
 */
export function pushReachOf(endpoint: string, env: AddressEnv): 'public' | 'any' {
  const url = URL.parse(endpoint);
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '';
  if (url && isPlain && isNamed(url, env)) return 'any';
  if (url && isPlain && url.port === '' && isService(url.hostname)) return 'public';
  throw new DrawbridgeError(
    'INVALID_REQUEST',
    'subscription.endpoint: it is not an https address of a known push service. The operator of this server can allow its origin by WEBHOOK_ORIGINS',
  );
}

function isService(hostname: string): boolean {
  return SERVICES.some((service) => hostname === service || hostname.endsWith(`.${service}`));
}
