/** Encrypts a notification (RFC 8291), signs it (RFC 8292) and hands it to the browser's push service. */
import { buildPushPayload } from '@block65/webcrypto-web-push';
import { base64url } from 'jose';
import { post, type SendEnv } from '../deliveries/send.ts';
import type { PushKeys, StoredPush } from '../ports.ts';
import { pushReachOf } from './address.ts';
import { PUSH_SENDING } from './limits.ts';
import { messageText, type PushNews } from './message.ts';

/**
 * Makes one attempt, and returns the status of the push service's answer: 404 and 410 mean that the subscription has
 * ended.
 * @throws if the push service cannot be reached, or is not allowed any more.
 */
export async function sendPush(
  env: SendEnv,
  { subscription, origin }: StoredPush,
  news: PushNews,
  { publicKey, privateKey }: PushKeys,
): Promise<number> {
  const { endpoint } = subscription;
  const reach = pushReachOf(endpoint, env); // The operator's setting may have changed.
  const message = {
    data: messageText(news, origin),
    options: {
      ttl: PUSH_SENDING.ttlSeconds,
      urgency: news.kind === 'waiting' ? 'high' : 'normal',
      topic: await topicOf(news.conversation.id),
    },
  } as const;
  // Apple refuses a contact that is no public https URL; an origin is one wherever an iPhone can subscribe.
  const sender = { subject: origin, publicKey, privateKey };
  const browser = { ...subscription, expirationTime: null };
  const { headers, body } = await buildPushPayload(message, browser, sender);
  const { status } = await post(env, { url: endpoint, reach, headers, body });
  return status;
}

/** A message that was not delivered yet gives way to a newer one of its conversation, whose id the service cannot see. */
async function topicOf(conversationId: string): Promise<string> {
  const bytes = new TextEncoder().encode(conversationId);
  const hash = await crypto.subtle.digest('SHA-256', bytes);
  return base64url.encode(new Uint8Array(hash)).slice(0, PUSH_SENDING.topicChars);
}
