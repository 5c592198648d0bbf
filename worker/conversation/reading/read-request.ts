/** How the Worker reads a conversation: over HTTP, because an RPC holds 32 MiB. */
import type { Env } from '../../env.ts';
import { conversationOf } from '../../objects.ts';
import type { Caller } from '../../ports.ts';
import { reach } from '../../reach.ts';
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
