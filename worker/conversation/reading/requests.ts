/**
 * How the Worker asks a conversation for what no RPC carries: documents beyond 32 MiB, and a follower's socket. URLs,
 * written and read here.
 */
import { parseResponseId } from '../../../shared/ids.ts';
import type { Env } from '../../env.ts';
import { conversationOf } from '../../objects.ts';
import type { Caller } from '../../ports.ts';
import { reach } from '../../reach.ts';
import { Following } from '../tape/followers.ts';
import type { From, Newest } from './excerpt.ts';

export interface ReadRequest {
  readonly caller: Caller;
  readonly wanted:
    | { readonly type: 'response'; readonly ordinal: number }
    | { readonly type: 'newest'; readonly newest: Newest }
    | { readonly type: 'chapter'; readonly from: From };
}

export const READ_PATH = '/read';

/** The JSON of a ChatResponse, or the refusal as the API words it: fit to be passed on. */
export async function readWhole(
  env: Env,
  { caller, ordinal }: { readonly caller: Caller; readonly ordinal: number },
): Promise<Response> {
  return await read(env, { caller, wanted: { type: 'response', ordinal } });
}

/** The JSON of a ConversationView, or the refusal as the API words it: fit to be passed on. */
export async function readNewest(env: Env, caller: Caller, newest: Newest): Promise<Response> {
  return await read(env, { caller, wanted: { type: 'newest', newest } });
}

/** The JSON of a Chapter, or the refusal as the API words it. */
export async function readChapter(env: Env, caller: Caller, from: From): Promise<Response> {
  return await read(env, { caller, wanted: { type: 'chapter', from } });
}

/**
 * The answer is taken from the object at once: a reader that takes its time would keep the object awake. An object that
 * restarts is asked again.
 */
async function read(env: Env, request: ReadRequest): Promise<Response> {
  const query = new URLSearchParams({ request: JSON.stringify(request) });
  return await reach(async () => {
    const stub = conversationOf(env, request.caller);
    const { status, headers, body } = await stub.fetch(`https://conversation${READ_PATH}?${query}`);
    return new Response(await new Response(body).arrayBuffer(), { status, headers });
  });
}

/** Only the Worker gets here, with what {@link read} wrote. */
export function parseReadRequest(url: URL): ReadRequest {
  return JSON.parse(url.searchParams.get('request') ?? '') as ReadRequest;
}

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
