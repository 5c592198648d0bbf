/** How the Worker asks a conversation for a follower's socket: a URL, written and read here. */
import { parseResponseId } from '../../../shared/ids.ts';
import type { Caller } from '../../ports.ts';
import { Following } from '../tape/followers.ts';

export interface FollowRequest {
  readonly caller: Caller;
  readonly following: Following;
  /** Of the response that is followed; null for the whole conversation. */
  readonly ordinal: number | null;
  /** Where the reader stands; 0 for the beginning. */
  readonly cursor: number;
}

export function formatFollowRequest(caller: Caller, following: Following, cursor: number): string {
  const query = new URLSearchParams({ request: JSON.stringify({ caller, following, cursor }) });
  return `https://conversation/follow?${query}`;
}

/** Only the Worker gets here, with what {@link formatFollowRequest} wrote. */
export function parseFollowRequest(url: URL): FollowRequest {
  const request = JSON.parse(url.searchParams.get('request') ?? '') as Omit<
    FollowRequest,
    'ordinal'
  >;
  const following = Following.parse(request.following);
  const ordinal =
    following.responseId === null ? null : parseResponseId(following.responseId).ordinal;
  return { ...request, following, ordinal };
}
