/** How the Worker asks a conversation for the whole of it, or of one response: over HTTP, because an RPC holds 32 MiB. */
import type { Env } from '../env.ts';
import type { Caller } from './object.ts';

export interface ReadRequest {
  readonly caller: Caller;
  /** Of the response that is wanted; null for the whole conversation. */
  readonly ordinal: number | null;
}

export const READ_PATH = '/read';

/**
 * The JSON of a ConversationView or a ChatResponse, or the refusal as the API words it: fit to be passed on. It is taken
 * from the object at once: a reader that takes its time would keep the object awake.
 */
export async function readWhole(env: Env, request: ReadRequest): Promise<Response> {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.idFromName(request.caller.conversationId));
  const query = new URLSearchParams({ request: JSON.stringify(request) });
  const { status, headers, body } = await stub.fetch(`https://conversation${READ_PATH}?${query}`);
  return new Response(await new Response(body).arrayBuffer(), { status, headers });
}

/** Only the Worker gets here, with what {@link readWhole} wrote. */
export function parseReadRequest(url: URL): ReadRequest {
  return JSON.parse(url.searchParams.get('request') ?? '') as ReadRequest;
}
