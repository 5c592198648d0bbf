/** Hands a notification to the push service of the browser, or to the ntfy server. */
import { post, type SendEnv } from '../deliveries/send.ts';
import type { StoredPush } from '../ports/account.ts';
import type { PushKeys } from '../ports/directory.ts';
import { pushReachOf } from './address.ts';
import type { PushNews } from './message.ts';
import { ntfyRequest } from './ntfy.ts';
import { webPushRequest } from './web-push.ts';

/** Makes one attempt, and returns the answer's status. @throws if the service is out of reach or not allowed. */
export async function sendPush(
  env: SendEnv,
  { subscription, origin }: StoredPush,
  news: PushNews,
  keys: PushKeys,
): Promise<number> {
  const reach = pushReachOf(subscription, env); // The operator's setting may have changed.
  const request =
    'topic' in subscription
      ? ntfyRequest(subscription, news, origin)
      : await webPushRequest(subscription, news, origin, keys);
  const { status } = await post(env, { ...request, reach });
  return status;
}
