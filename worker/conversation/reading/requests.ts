/** The URLs for what RPC cannot carry: documents beyond 32 MiB, and a follower's socket. Written and parsed here. */
import { parseResponseId } from '../../../shared/ids.ts';
import { TRACE_HEADER } from '../../../shared/wire/trace.ts';
import type { Env } from '../../env.ts';
import { conversationOf } from '../../objects.ts';
import type { Caller, Person } from '../../ports/conversation.ts';
import { reach } from '../../reach.ts';
import { Following } from '../tape/followers.ts';
import type { From, Newest } from './excerpt.ts';

export interface ReadRequest {
  readonly caller: Caller;
  readonly wanted:
    | { readonly type: 'response' | 'images'; readonly ordinal: number }
    | { readonly type: 'newest'; readonly newest: Newest }
    | { readonly type: 'chapter'; readonly from: From }
    | { readonly type: 'asks' | 'rules' };
}

export const READ_PATH = '/read';

/**
 * The JSON of what is wanted, or the API's error response; the caller can pass either on. It is a ChatResponse
 * (`response`), a ConversationView (`newest`), MessageImages, a Chapter, RuleReports, or an ApprovalList with what
 * subagents ask.
 *
 * Reads the object's answer at once, because a slow reader would keep the object awake; only images are passed on as
 * they come. Asks again when the object restarts.
 */
export async function readDocument(
  env: Env,
  caller: Caller,
  wanted: ReadRequest['wanted'],
): Promise<Response> {
  const query = new URLSearchParams({ request: JSON.stringify({ caller, wanted }) });
  return await reach(async () => {
    const stub = conversationOf(env, caller);
    const url = `https://conversation${READ_PATH}?${query}`;
    const { status, headers, body } = await stub.fetch(url, { headers: tracing(caller) });
    // Images can be larger than what the Worker may hold.
    const whole = wanted.type === 'images' ? body : await new Response(body).arrayBuffer();
    return new Response(whole, { status, headers });
  });
}

/** The header with the caller's trace id: the object shows it in a refusal, also of a request that it cannot parse. */
export function tracing({ trace }: Person): Record<string, string> {
  return trace === undefined ? {} : { [TRACE_HEADER]: trace };
}

/** Parses what {@link readDocument} wrote; only the Worker can call this path. */
export function parseReadRequest(url: URL): ReadRequest {
  return JSON.parse(url.searchParams.get('request') ?? '') as ReadRequest;
}

export interface FollowRequest {
  readonly caller: Caller;
  readonly following: Following;
  /** The ordinal of the followed response; null for the whole conversation. */
  readonly ordinal: number | null;
  /** The reader's position; 0 for the beginning. */
  readonly cursor: number;
}

/** `caller` is a {@link Person} for the account's object. */
export function formatFollowRequest(
  caller: Caller | Person,
  following: Following,
  cursor: number,
): string {
  const query = new URLSearchParams({ request: JSON.stringify({ caller, following, cursor }) });
  return `https://conversation/follow?${query}`;
}

/** Parses what {@link formatFollowRequest} wrote; only the Worker can call this path. */
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
