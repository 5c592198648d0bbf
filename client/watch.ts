/** A conversation as it is now: reads it, follows it, and folds each event into it. */
import type { ConversationView } from '../shared/wire/documents.ts';
import { foldConversation } from '../shared/wire/fold.ts';
import type { Client, Watched } from './api.ts';
import type { Clock } from './clock.ts';
import { type FollowOptions, persist } from './follow.ts';

/** {@link Client.watchConversation} documents it. */
export async function* watch(
  client: Pick<Client, 'getConversation' | 'followConversation'>,
  conversationId: string,
  clock: Clock,
  { limit, ...options }: FollowOptions & { readonly limit?: number } = {},
): AsyncGenerator<Watched, void, undefined> {
  const query = limit === undefined ? {} : { limit };
  const read = () => client.getConversation(conversationId, query, options.signal);
  const view = await persist(read, clock, options);
  yield { view, event: null };
  const events = client.followConversation(conversationId, { ...options, cursor: view.position });
  for await (const { event } of events) {
    if (event.type === 'heartbeat') continue;
    foldConversation(view, event);
    yield { view, event };
  }
}

/** Puts the part before a view in front of it: what `getConversation` answers for `before: view.earlier`. */
export function prependPart(view: ConversationView, part: ConversationView): void {
  view.messages.unshift(...part.messages);
  view.responses.unshift(...part.responses);
  view.earlier = part.earlier;
}

/** Lets go of the oldest exchanges, so that `keep` are left. {@link prependPart} brings them back. */
export function dropEarlier(view: ConversationView, keep: number): void {
  const dropped = view.responses.splice(0, Math.max(0, view.responses.length - keep));
  const [first] = view.responses;
  if (dropped.length === 0 || !first) return;
  const gone = new Set(dropped.map(({ id }) => id));
  view.messages = view.messages.filter(({ responseId }) => !gone.has(responseId));
  view.earlier = first.id;
}
