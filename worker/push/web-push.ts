/** Makes the request to a browser's push service: encrypted (RFC 8291) and signed (RFC 8292). */
import { buildPushPayload } from '@block65/webcrypto-web-push';
import { base64url } from 'jose';
import type { BrowserSubscription } from '../../shared/api/push.ts';
import type { Post } from '../deliveries/send.ts';
import type { PushKeys } from '../ports/directory.ts';
import { PUSH_SENDING } from './limits.ts';
import { messageOf, type PushNews } from './message.ts';

/** The text has the form that Safari shows by itself ("Declarative Web Push"). `origin`: where the page is. */
export async function webPushRequest(
  subscription: BrowserSubscription,
  news: PushNews,
  origin: string,
  { publicKey, privateKey }: PushKeys,
): Promise<Omit<Post, 'reach'>> {
  const { title, body: text, link } = messageOf(news, origin);
  const notification = { title, body: text, navigate: link, app_badge: String(news.waiting) };
  const message = {
    data: JSON.stringify({ web_push: 8030, notification }),
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
  return { url: subscription.endpoint, headers, body };
}

/** A message that was not delivered yet gives way to a newer one of its conversation, whose id the service cannot see. */
async function topicOf(conversationId: string): Promise<string> {
  const bytes = new TextEncoder().encode(conversationId);
  const hash = await crypto.subtle.digest('SHA-256', bytes);
  return base64url.encode(new Uint8Array(hash)).slice(0, PUSH_SENDING.topicChars);
}
