/** Makes the request to an ntfy server (docs.ntfy.sh/publish, "Publish as JSON"). Pure. */
import type { NtfyTopic, PushKind } from '../../shared/api/push.ts';
import type { Post } from '../deliveries/send.ts';
import { messageOf, type PushNews } from './message.ts';

/** `origin`: where the page is. */
export function ntfyRequest(
  { topic, token }: NtfyTopic,
  news: PushNews,
  origin: string,
): Omit<Post, 'reach'> {
  const { title, body: message, link: click } = messageOf(news, origin);
  const { pathname, origin: server } = new URL(topic);
  const [priority, tag] = LOOKS[news.kind];
  return {
    url: `${server}/`,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'drawbridge',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      topic: pathname.slice(1),
      title,
      message,
      priority,
      tags: [tag],
      click,
    }),
  };
}

/** The priority, of which 3 is the usual one and 4 is high, and the short code of the emoji before the title. */
const LOOKS: Readonly<Record<PushKind, readonly [priority: number, tag: string]>> = {
  waiting: [4, 'bell'],
  ended: [3, 'white_check_mark'],
  failed: [3, 'warning'],
};
