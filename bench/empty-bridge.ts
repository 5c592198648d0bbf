/** A bridge without tools: it uses the real bridge's socket and always returns the same result. */
import { answerMs } from '../bridge/tunnel/connection.ts';
import { TunnelSocket } from '../bridge/tunnel/socket.ts';
import { mintToken } from '../local/state/tokens.ts';
import { newBridgeId } from '../shared/ids.ts';
import { toolsRunBy } from '../shared/tools/catalogue.ts';
import {
  type BridgeFrame,
  type MachineContext,
  type ToolResult,
  TUNNEL_PROTOCOL,
} from '../shared/wire/tunnel.ts';
import type { House } from './house.ts';

export interface ConnectedBridge extends AsyncDisposable {
  readonly bridgeId: string;
}

/** Resolves when it is connected. A turn with it measures only the loop: upstream, rows, RPCs and the socket. */
export async function connectEmptyBridge(
  house: House,
  result: ToolResult,
): Promise<ConnectedBridge> {
  const bridgeId = newBridgeId(crypto.randomUUID());
  const token = await mintToken(house.state.authSecret, { scope: 'bridge', bridgeId }, new Date());
  const connected = Promise.withResolvers<void>();
  let send: (frame: BridgeFrame) => void = () => {};
  const socket = new TunnelSocket(
    { url: house.url, token, bridgeId, wasWelcomed: false, answerMs: answerMs(0) },
    {
      onOpen(sendFrame) {
        send = sendFrame;
        send(helloOf(bridgeId));
      },
      onFrame(frame) {
        if (frame.type === 'welcome') connected.resolve();
        if (frame.type === 'call') send({ type: 'result', callId: frame.call.callId, result });
        if (frame.type === 'look')
          send({ type: 'context', lookId: frame.lookId, context: CONTEXT });
      },
      onClose: () => {},
    },
  );
  const refused = socket.ended.then(({ reason }) => {
    throw new Error(`The empty bridge was not connected: ${reason}`);
  });
  await Promise.race([connected.promise, refused]);
  return {
    bridgeId,
    async [Symbol.asyncDispose]() {
      socket.leave();
      await socket.ended;
    },
  };
}

/** Offers the same tools as a real bridge, so that the model gets the same request. */
function helloOf(bridgeId: string): BridgeFrame {
  return {
    type: 'hello',
    protocol: TUNNEL_PROTOCOL,
    bridgeId,
    bootId: crypto.randomUUID(),
    tools: toolsRunBy('bridge').map(({ name }) => name),
    confinement: { kind: 'none', detail: 'nothing runs here' },
    context: CONTEXT,
    calls: [],
  };
}

const CONTEXT: MachineContext = {
  os: 'Linux',
  shell: 'sh',
  workspacePath: '/workspace',
  projectLayout: 'notes.md',
};
