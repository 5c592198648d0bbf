/** The services of `aiserver.v1` over the Connect protocol, as Cursor's clients call it: the calls of aiserver.proto. */
import type { Context, HonoRequest } from 'hono';
import { streamChat } from './chat.ts';
import type { ChatCore } from './core.ts';
import { ConnectRefusal, errorOf, errorResponse } from './errors.ts';
import { type Codec, readEmpty, writeModels } from './messages.ts';
import {
  codecOf,
  contentTypesOf,
  endEnvelope,
  type MessageKind,
  readMessageBytes,
} from './wire.ts';

const PACKAGE = '/aiserver.v1.';

interface ConnectCall {
  readonly kind: MessageKind;
  readonly carryOut: (call: Request, core: ChatCore, codec: Codec) => Promise<Response>;
}

/** The calls by their paths, all of them POST. They need a user's token. */
export const CALLS: ReadonlyMap<string, ConnectCall> = new Map([
  [`${PACKAGE}AiService/AvailableModels`, { kind: 'unary', carryOut: availableModels }],
  ...[
    'AiService/StreamChat',
    'ChatService/StreamChat',
    'ChatService/StreamUnifiedChatWithTools',
  ].map((name): [string, ConnectCall] => [
    PACKAGE + name,
    { kind: 'stream', carryOut: streamChat },
  ]),
]);

/** Answers a call. A failure has the form that the kind of the call demands. */
export async function serveCall(c: Context, core: ChatCore): Promise<Response> {
  const { kind, carryOut } = CALLS.get(c.req.path) as ConnectCall;
  c.set('operation', c.req.path.slice(c.req.path.lastIndexOf('/') + 1));
  const codec = codecOf(c.req.raw, kind);
  if (!codec) return unsupported(kind);
  try {
    return await carryOut(c.req.raw, core, codec);
  } catch (thrown) {
    const failed = thrown instanceof ConnectRefusal ? failedCall(c.req, thrown) : null;
    if (failed) return failed;
    throw thrown; // The Worker answers by the door's `refusal`.
  }
}

/** The response to a call that failed, for example without a good token. Null for a request that is no call. */
export function failedCall(
  { path, raw }: Pick<HonoRequest, 'path' | 'raw'>,
  thrown: unknown,
  headers?: HeadersInit,
): Response | null {
  if (!path.startsWith(PACKAGE)) return null;
  const call = CALLS.get(path);
  const error = errorOf(
    call ? thrown : new ConnectRefusal('unimplemented', 'There is no such call of aiserver.v1'),
  );
  const codec = call?.kind === 'stream' ? codecOf(raw, 'stream') : null;
  if (!codec) return errorResponse(error, headers);
  // The status of a stream is always 200: its last envelope has the error.
  return new Response(endEnvelope(error), {
    headers: { 'content-type': `application/connect+${codec}` },
  });
}

/** The protocol demands this status, and no body. */
function unsupported(kind: MessageKind): Response {
  return new Response(null, { status: 415, headers: { 'accept-post': contentTypesOf(kind) } });
}

async function availableModels(call: Request, core: ChatCore, codec: Codec): Promise<Response> {
  const bytes = await readMessageBytes(call, core, 'unary');
  try {
    readEmpty(bytes, codec);
  } catch {
    throw new ConnectRefusal(
      'invalid_argument',
      `The message is no AvailableModelsRequest as ${codec}`,
    );
  }
  const message = writeModels(core.models(), codec);
  return new Response(message, { headers: { 'content-type': `application/${codec}` } });
}
