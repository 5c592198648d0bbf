/** Decides which push services and ntfy servers get messages. A client names the address. Pure. */
import type { PushState, PushSubscription } from '../../shared/api/push.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { type AddressEnv, isNamed, reachOf } from '../deliveries/address.ts';

/** The push services of Safari, Chrome, Firefox and Edge. */
const SERVICES = [
  'push.apple.com',
  'fcm.googleapis.com',
  'push.services.mozilla.com',
  'notify.windows.com',
];

/** The service behind a subscription, and its address there, as `GET push` shows them. */
export function placeOf(
  subscription: PushSubscription,
): Pick<NonNullable<PushState['subscribed']>, 'service' | 'endpoint'> {
  return 'topic' in subscription
    ? { service: 'ntfy', endpoint: subscription.topic }
    : { service: 'web_push', endpoint: subscription.endpoint };
}

/**
 * How a message may reach the address of a subscription. `public`: it is at a browser's push service, or a topic at a
 * public address. `any`: the operator has named its origin (WEBHOOK_ORIGINS).
 * @throws {DrawbridgeError} INVALID_REQUEST for any other address of a browser, and like {@link reachOf} for a topic's.
 */
export function pushReachOf(subscription: PushSubscription, env: AddressEnv): 'public' | 'any' {
  if ('topic' in subscription) return reachOf(subscription.topic, env, 'subscription.topic');
  const url = URL.parse(subscription.endpoint);
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
