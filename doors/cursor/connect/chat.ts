/** `StreamChat` and its other names: turns the call into a run, and the run's text into the messages of a stream. */
import { DrawbridgeError } from '../../../shared/errors.ts';
import { ConversationId } from '../../../shared/ids.ts';
import type { Wire } from '../../words/word-stream.ts';
import type { ChatCore, ResponseCall } from './core.ts';
import { ConnectRefusal, errorOfEnding, TIMED_OUT } from './errors.ts';
import { type Codec, type GetChatRequest, readChatRequest, writeChatResponse } from './messages.ts';
import { endEnvelope, envelope, readMessageBytes, timeoutOf } from './wire.ts';

/** Resolves when the run has started. The run ends with its client, which cannot come back to the answer. */
export async function streamChat(call: Request, core: ChatCore, codec: Codec): Promise<Response> {
  const ms = timeoutOf(call);
  const begun = await begin(decoded(await readMessageBytes(call, core, 'stream'), codec), core);
  const stream = core.stream(begun, {
    encode: bytesOf,
    open: (write) => chatWire(write, codec),
    timeout: ms === null ? null : { ms, ending: TIMED_OUT },
  });
  return new Response(stream, {
    headers: {
      'content-type': `application/connect+${codec}`,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'Drawbridge-Conversation-Id': begun.caller.conversationId,
      'Drawbridge-Response-Id': begun.responseId,
    },
  });
}

function decoded(bytes: Uint8Array, codec: Codec): GetChatRequest {
  try {
    return readChatRequest(bytes, codec);
  } catch {
    throw new ConnectRefusal('invalid_argument', `The message is no GetChatRequest as ${codec}`);
  }
}

async function begin(asked: GetChatRequest, core: ChatCore): Promise<ResponseCall> {
  const { conversation, workspaceRootPath, modelDetails } = asked;
  const completion = {
    ...(modelDetails?.modelName && { model: modelDetails.modelName }),
    ...(workspaceRootPath !== '' && { context: { workspacePath: workspaceRootPath } }),
    messages: conversation.map(({ text, type }) => ({ role: ROLES.get(type), content: text })),
  };
  const { data: conversationId } = ConversationId.safeParse(asked.conversationId);
  return await core.begin(completion, conversationId).catch((error) => {
    const isForm = error instanceof DrawbridgeError && error.code === 'INVALID_REQUEST';
    throw isForm ? new ConnectRefusal('invalid_argument', inOwnNames(error.message)) : error;
  });
}

const ROLES = new Map<unknown, string>([
  ['MESSAGE_TYPE_HUMAN', 'user'],
  ['MESSAGE_TYPE_AI', 'assistant'],
]);

/** A problem with the name that the field has in the call. */
function inOwnNames(message: string): string {
  return message
    .replace(/^messages/, 'conversation')
    .replace(
      /^(conversation\[\d+\])\.role: .*/s,
      '$1.type: must be MESSAGE_TYPE_HUMAN or MESSAGE_TYPE_AI',
    )
    .replaceAll('role user', 'type MESSAGE_TYPE_HUMAN');
}

/** The messages of one answer. Text is written in pieces as it comes, and never taken back. */
function chatWire(send: (text: string) => void, codec: Codec): Wire {
  const write = (text: string) => send(textOf(envelope(writeChatResponse(text, codec))));
  return {
    write: ({ content }) => content !== '' && write(content),
    /** Without an empty piece, a client that has left is not noticed while tools run. */
    beat: () => write(''),
    end: (ending) => send(textOf(endEnvelope(errorOfEnding(ending)))),
  };
}

/** One character for each byte. */
function textOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
