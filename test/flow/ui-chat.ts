/** A chat of the AI SDK without a framework, over one of its transports. */
import {
  AbstractChat,
  type ChatState,
  type ChatTransport,
  DefaultChatTransport,
  type UIMessage,
  WebSocketChatTransport,
} from 'ai';
import { WebSocket } from 'ws';
import type { House } from './house.ts';

export const TRANSPORTS = ['http', 'socket'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** The SDK's own transport, with what an app has to give it. */
export function transportTo(house: House, name: TransportName): ChatTransport<UIMessage> {
  const { url, token } = house.ready;
  const headers = { authorization: `Bearer ${token}` };
  if (name === 'http') return new DefaultChatTransport({ api: `${url}/api/v1/ui/chat`, headers });
  // The types of `ws` differ from a browser's in handlers that the SDK does not use.
  const webSocket = WebSocket as never;
  return new WebSocketChatTransport({ url: `${url}/api/v1/ui/socket`, headers, webSocket });
}

/** Keeps its messages in memory. */
export class FlowChat extends AbstractChat<UIMessage> {
  constructor(transport: ChatTransport<UIMessage>, id: string = crypto.randomUUID()) {
    const state: ChatState<UIMessage> = {
      status: 'ready',
      error: undefined,
      messages: [],
      pushMessage: (message) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage: (at, message) => {
        state.messages[at] = message;
      },
      snapshot: (thing) => structuredClone(thing),
    };
    super({ id, transport, state });
  }

  /** The text of the last message. */
  get text(): string {
    const parts = this.lastMessage?.parts ?? [];
    return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  }

  /** The newest state of each document. */
  get documents(): { readonly id: string; readonly type: string; readonly metadata: object }[] {
    const parts = this.lastMessage?.parts ?? [];
    return parts.flatMap((part) => (part.type === 'data-document' ? [part.data as never] : []));
  }

  get conversationId(): string {
    return Object(this.lastMessage?.metadata).conversationId;
  }
}
